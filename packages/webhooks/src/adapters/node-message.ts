/** Parts of Node's `IncomingMessage` for a receiver, with frameworks' additions. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Express: the URL before a router removed its mount path. */
  readonly originalUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** A body that was read before. Bytes and strings are used, other values are ignored. */
  readonly body?: unknown;
  /** Bytes or text of a body that was read before, as some clouds keep them. */
  readonly rawBody?: unknown;
  /** Whether reading has started. */
  readonly readableDidRead?: boolean;
  /** Whether no more data will arrive, because the connection was closed. */
  readonly destroyed?: boolean;
  /** Whether all of the body has arrived. */
  readonly complete?: boolean;
  on(event: string, listener: (value: Uint8Array) => void): unknown;
  off(event: string, listener: (value: Uint8Array) => void): unknown;
  resume(): unknown;
  destroy(error?: Error): unknown;
}

/** The part of Node's `ServerResponse` that a receiver uses. */
export interface NodeResponse {
  readonly headersSent: boolean;
  readonly destroyed?: boolean;
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(body: Uint8Array): unknown;
}
