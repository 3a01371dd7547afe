/** Names and values in turn, as on the wire: `["accept", "text/html", "x-a", "1"]`. */
export type HeaderList = readonly string[];

/** A body that can be sent again, or a stream, which cannot. */
export type TransportBody = string | Uint8Array | ReadableStream<Uint8Array>;

/** Milliseconds that each phase of one exchange may take; 0 means no limit. */
export interface PhaseTimeouts {
  /** Name look-up, TCP and TLS handshake together. */
  readonly connect: number;
  /** From the end of the request to the end of the response's head. */
  readonly headers: number;
  /** Between two pieces of the response's body. */
  readonly body: number;
}

/** One exchange as a transport gets it: already checked, no redirects, no retries. */
export interface TransportRequest {
  /** The method as it goes on the wire. */
  readonly method: string;
  /** Absolute, `http:` or `https:`, without user and fragment. Shared: do not change. */
  readonly url: URL;
  /** Names in lower case, values without line breaks. */
  readonly headers: HeaderList;
  /** Any method may have one. `undefined`: none. */
  readonly body: TransportBody | undefined;
  readonly timeouts: PhaseTimeouts;
  /** Maximum bytes of a response's body that is read whole, counted after decompression. */
  readonly maxResponseSize: number;
  readonly signal: AbortSignal | undefined;
}

/** The head of a response. */
export interface TransportHead {
  readonly status: number;
  /** Headers as received, names in any case; without coding and length when it decoded the body. */
  readonly headers: HeaderList;
}

/** A response that was read whole. */
export interface WholeResponse extends TransportHead {
  readonly body: Uint8Array;
}

/** A response whose body is still to be read; cancelling it ends the exchange. */
export interface StreamedResponse extends TransportHead {
  readonly body: ReadableStream<Uint8Array>;
}

/**
 * Carries one request to a server and its response back. It follows no redirects, keeps no cookies
 * and tries once. But it may send a request again that a closed idle connection never took.
 *
 * Both operations reject with {@link TransportError}s only. An abort rejects with an `AbortError`,
 * whatever the reason of the signal is.
 */
export interface Transport {
  /** Reads the response whole. */
  exchange(request: TransportRequest): Promise<WholeResponse>;
  /** Resolves with the head; the body arrives as it is read, up to `maxResponseSize`. */
  stream(request: TransportRequest): Promise<StreamedResponse>;
  /** Closes idle connections and lets running exchanges end. */
  close(): Promise<void>;
}
