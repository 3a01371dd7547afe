import type { HeaderReader } from "../headers.ts";

/** A message to sign. */
export interface MessageToSign {
  /** Identifier of the delivery. */
  readonly id: string;
  /** Seconds since 1970. Schemes without a timestamp ignore it. */
  readonly timestamp: number;
  /** The body, as it is sent: its bytes, or its text when it is UTF-8. */
  readonly body: string | Uint8Array;
  /** The URL to which it is sent, for schemes that sign it. */
  readonly url?: string | undefined;
}

/** A message as it was received. */
export interface SignedMessage {
  /** Headers of the delivery. */
  readonly headers: HeaderReader;
  /** The body as it was received: its bytes, or its text when it is UTF-8. */
  readonly body: string | Uint8Array;
  /**
   * Public URL of the request with its query, for schemes that sign it; only its path when the
   * receiver does not know its URL. Absent when the delivery did not come through a receiver.
   */
  readonly url?: string | undefined;
}

/** The headers that carry a signature, by name in lower case. */
type SignatureHeaders = Readonly<Record<string, string>>;

/** One imported secret. */
export interface SignatureKey {
  /** Returns the signature's headers by lower-case name. Fails if it cannot sign. */
  sign(message: MessageToSign): SignatureHeaders | Promise<SignatureHeaders>;
  /** Whether a signature is valid, in constant time; no message makes it throw. */
  verify(message: SignedMessage): boolean | Promise<boolean>;
  /**
   * Returns the digest of a label and a content, which differs by key. Keys of a replay store are
   * made of it. Letters, digits, `-` and `_`.
   */
  fingerprint(label: string, content: string | Uint8Array): string | Promise<string>;
}

/** Why a delivery cannot be verified: a malformed signature, or a timestamp too far from now. */
export type SignatureFault = "signature" | "timestamp";

/** How a vendor signs, for any number of secrets. */
export interface SignatureScheme {
  /** Names the scheme, for messages. */
  readonly name: string;
  /** Header of the signature, in lower case. */
  readonly signatureHeader: string;
  /** All headers that are needed to verify, in lower case. */
  readonly requiredHeaders: readonly string[];
  /** Whether the header has the secret itself, which is not shown then. Default: false. */
  readonly carriesSecret?: boolean | undefined;
  /** Whether the URL is signed, so that receivers need their option `url`. Default: false. */
  readonly signsUrl?: boolean | undefined;
  /**
   * Reads the identifier of the delivery that the signature covers, from headers of a delivery that
   * was verified. Only such an identifier proves a duplicate. Absent: the signature covers none.
   */
  readonly signedId?: ((headers: HeaderReader) => string) | undefined;
  /**
   * Joins the headers of several signatures of one message, which receivers accept by any of them.
   * Absent: a message has one signature.
   */
  readonly combine?: ((signatures: readonly SignatureHeaders[]) => SignatureHeaders) | undefined;
  /**
   * Checks the headers before the body is read. Returns why no signature can be valid; `undefined`
   * when one can.
   */
  checkHeaders(headers: HeaderReader): SignatureFault | undefined;
  /**
   * Imports a secret.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_SECRET` when it cannot be a secret of this scheme
   */
  createKey(secret: string): SignatureKey;
}
