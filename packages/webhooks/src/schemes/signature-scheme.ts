import type { HeaderReader } from "../headers.ts";
import type { MaybePromise } from "../maybe-promise.ts";

/** What is signed. */
export interface MessageToSign {
  /** Identifier of the delivery. */
  readonly id: string;
  /** Seconds since 1970. Schemes without a timestamp ignore it. */
  readonly timestamp: number;
  /** The body, as it is sent: its bytes, or its text when it is UTF-8. */
  readonly body: string | Uint8Array;
}

/** What came. */
export interface SignedMessage {
  /** Headers of the delivery. */
  readonly headers: HeaderReader;
  /** The body, as it came: its bytes, or its text when it is UTF-8. */
  readonly body: string | Uint8Array;
}

/** One secret, made ready once. */
export interface SignatureKey {
  /** Returns the headers that carry the signature, by name in lower case. Rejects or throws when the key cannot sign. */
  sign(message: MessageToSign): MaybePromise<Readonly<Record<string, string>>>;
  /** Tells whether a signature of the message is right. Compares in constant time; never throws because of a message. */
  verify(message: SignedMessage): MaybePromise<boolean>;
  /**
   * Returns the digest of a label and a content under this key: under another key it is another one. Keys of a replay
   * store are made of it. Letters, digits, `-` and `_`.
   */
  fingerprint(label: string, content: string | Uint8Array): MaybePromise<string>;
}

/** Why a delivery cannot be verified: a signature of impossible shape, or a timestamp too far from now. */
export type SignatureFault = "signature" | "timestamp";

/** How a vendor signs. Kept apart from the secrets, so that one scheme serves any number of them. */
export interface SignatureScheme {
  /** Names the scheme, for messages. */
  readonly name: string;
  /** Header of the signature, in lower case. */
  readonly signatureHeader: string;
  /** All headers without which nothing can be verified, in lower case. */
  readonly requiredHeaders: readonly string[];
  /** Whether the header has the secret itself, which then must not go to anybody else. Default: false. */
  readonly carriesSecret?: boolean | undefined;
  /**
   * Reads the identifier of the delivery that the signature covers, from headers of a delivery that was verified. Only
   * such an identifier proves a repetition. Absent: the signature covers none.
   */
  readonly signedId?: ((headers: HeaderReader) => string) | undefined;
  /**
   * Tells from the headers alone why no signature can be right; `undefined` when one can. Asked before the body is read.
   */
  checkHeaders(headers: HeaderReader): SignatureFault | undefined;
  /**
   * Makes a secret ready.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_SECRET` when it cannot be a secret of this scheme
   */
  createKey(secret: string): SignatureKey;
}
