import { constantTimeEqual } from "@fetchwork/kit";
import { optionError, WebhookUsageError } from "../errors.ts";
import { createHmacKey, type DigestEncoding, type HashName } from "./hmac-key.ts";
import { checkOptions } from "../check-options.ts";
import { headerOf } from "../headers.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { secretBytes } from "./secret-bytes.ts";

/** Options of {@link hmacScheme}. */
export interface HmacSchemeOptions {
  /** Header of the signature. Default: `X-Hub-Signature-256`. */
  readonly header?: string | undefined;
  /** Text before the digest. Default: `sha256=`, or the hash that was chosen. */
  readonly prefix?: string | undefined;
  /** How the digest is encoded; hex is in lower case. Default: `"hex"`. */
  readonly encoding?: DigestEncoding | undefined;
  /** Default: `"SHA-256"`. `"SHA-1"` is for legacy senders. */
  readonly hash?: HashName | undefined;
  /** Signs the URL and then the body; receivers then need their option `url`. Default: `false`. */
  readonly signsUrl?: boolean | undefined;
}

const sizes: Readonly<Record<HashName, number>> = { "SHA-1": 20, "SHA-256": 32, "SHA-512": 64 };

/**
 * HMAC (RFC 2104) of the body, as GitHub, Shopify and many others sign. Nothing else is signed: a
 * copied delivery stays valid forever, and two deliveries with the same body cannot be
 * distinguished.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function hmacScheme(options: HmacSchemeOptions = {}): SignatureScheme {
  checkOptions("hmacScheme", options, ["header", "prefix", "encoding", "hash", "signsUrl"]);
  const { header = "X-Hub-Signature-256", encoding = "hex", hash = "SHA-256" } = options;
  const { signsUrl = false } = options;
  if (!Object.hasOwn(sizes, hash)) throw optionError("hash", hash, "SHA-1, SHA-256 or SHA-512");
  const { prefix = `${hash.replace("-", "").toLowerCase()}=` } = options;
  if (encoding !== "hex" && encoding !== "base64") {
    throw optionError("encoding", encoding, '"hex" or "base64"');
  }
  const signatureHeader = header.toLowerCase();
  const size = sizes[hash];
  const length = encoding === "hex" ? 2 * size : 4 * Math.ceil(size / 3);
  const digits = encoding === "hex" ? /^[\da-f]+$/ : /^[A-Za-z\d+/]+={0,2}$/;
  const isDigest = (text: string): boolean =>
    text.length === prefix.length + length &&
    text.startsWith(prefix) &&
    digits.test(text.slice(prefix.length));

  return {
    name: `${hash} HMAC of ${signsUrl ? "URL and body" : "the body"}`,
    signsUrl,
    signatureHeader,
    requiredHeaders: [signatureHeader],
    checkHeaders: (headers) =>
      isDigest(headerOf(headers, signatureHeader)) ? undefined : "signature",
    createKey: (secret) => {
      const key = createHmacKey(secretBytes(secret), hash);
      return {
        sign: async ({ url, body }) => {
          if (signsUrl && url === undefined) {
            throw new WebhookUsageError("ERR_WEBHOOKS_ARGUMENT", "url required: it is signed");
          }
          const signed = signsUrl ? (url ?? "") : "";
          return { [signatureHeader]: prefix + (await key.digest(encoding, signed, body)) };
        },
        verify: async ({ headers, body, url = "" }) => {
          const signature = headerOf(headers, signatureHeader);
          if (!isDigest(signature) || (signsUrl && url === "")) return false;
          const received = signature.slice(prefix.length);
          return constantTimeEqual(received, await key.digest(encoding, signsUrl ? url : "", body));
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}
