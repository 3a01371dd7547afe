import { constantTimeEqual, decodeBase64 } from "@fetchwork/kit";
import { createEd25519Key, type Ed25519Key } from "./ed25519-key.ts";
import { optionError } from "../errors.ts";
import { createHmacKey } from "./hmac-key.ts";
import { checkOptions } from "../check-options.ts";
import { headerOf } from "../headers.ts";
import type { MessageToSign, SignatureScheme } from "./signature-scheme.ts";
import { secretBytes, secretError } from "./secret-bytes.ts";
import { createTimestampCheck, timestampOptionNames, type TimestampOptions } from "./timestamp.ts";

/** Options of {@link standardScheme}. */
export interface StandardSchemeOptions extends TimestampOptions {
  /** Prefix of the three header names. Default: `webhook-`. Svix also sends `svix-`. */
  readonly headerPrefix?: string | undefined;
  /**
   * Encoding of a secret without `whsec_`: base64, as in other implementations, or the text
   * itself. Default: `"base64"`.
   */
  readonly secrets?: "base64" | "text" | undefined;
}

/** More than any sender uses, even during a rotation of secrets. */
const maxSignatures = 16;

/**
 * Standard Webhooks 1.0: `<id>.<timestamp>.<body>` signed with HMAC-SHA256 (`v1`) or Ed25519
 * (`v1a`).
 *
 * Secrets are base64, with `whsec_` before it or not; `whsk_…` and `whpk_…` are the private and the
 * public key of Ed25519. A signature of the other version is never accepted.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function standardScheme(options: StandardSchemeOptions = {}): SignatureScheme {
  checkOptions("standardScheme", options, [...timestampOptionNames, "headerPrefix", "secrets"]);
  const { headerPrefix = "webhook-", secrets = "base64" } = options;
  if (secrets !== "base64" && secrets !== "text") {
    throw optionError("secrets", secrets, '"base64" or "text"');
  }
  if (!/^[a-zA-Z\d-]+$/.test(headerPrefix)) {
    throw optionError("headerPrefix", headerPrefix, "the beginning of a header's name");
  }
  const start = headerPrefix.toLowerCase();
  const names = {
    id: `${start}id`,
    timestamp: `${start}timestamp`,
    signature: `${start}signature`,
  };
  const isTimely = createTimestampCheck(options);
  const checkHeaders: SignatureScheme["checkHeaders"] = (headers) => {
    const signatures = headerOf(headers, names.signature);
    if (signaturesOf(signatures, "v1").length + signaturesOf(signatures, "v1a").length === 0) {
      return "signature";
    }
    if (!isIdentifier(headerOf(headers, names.id))) return "signature";
    return isTimely(headerOf(headers, names.timestamp)) ? undefined : "timestamp";
  };
  return {
    name: "Standard Webhooks",
    signatureHeader: names.signature,
    requiredHeaders: [names.signature, names.id, names.timestamp],
    signedId: (headers) => headerOf(headers, names.id),
    combine: (signatures) => ({
      ...signatures[0],
      [names.signature]: signatures.map((each) => each[names.signature]).join(" "),
    }),
    checkHeaders,
    createKey: (secret) => {
      // Refuses what is not a text, such as a list of secrets.
      const bytes = secretBytes(secret);
      const pair = createEd25519Key(secret);
      const version = pair === undefined ? "v1" : "v1a";
      // Of a key pair the fingerprint only has to differ by key: a public key is not a secret.
      const key = createHmacKey(
        pair === undefined ? symmetricOf(secret, secrets) : bytes,
        "SHA-256",
      );
      const digest: Ed25519Key["sign"] = (prefix, body) => key.digest("base64", prefix, body);
      const sign = pair === undefined ? digest : pair.sign;
      return {
        sign: async (message) => {
          if (sign === undefined) throw secretError("a public key cannot sign");
          const signature = await sign(prefixOf(message), message.body);
          return {
            [names.id]: message.id,
            [names.timestamp]: String(message.timestamp),
            [names.signature]: `${version},${signature}`,
          };
        },
        verify: async ({ headers, body }) => {
          if (checkHeaders(headers) !== undefined) return false;
          const received = signaturesOf(headerOf(headers, names.signature), version);
          const prefix = `${headerOf(headers, names.id)}.${headerOf(headers, names.timestamp)}.`;
          if (pair === undefined) {
            const expected = await digest(prefix, body);
            return received.some((text) => constantTimeEqual(text, expected));
          }
          for (const text of received) {
            if ((await pair.verify?.(text, prefix, body)) === true) return true;
          }
          return false;
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}

function symmetricOf(secret: string, secrets: "base64" | "text"): Uint8Array<ArrayBuffer> {
  const isText = secrets === "text" && !secret.startsWith("whsec_");
  const bytes = isText ? secretBytes(secret) : secretOf(secret);
  if (bytes !== undefined && bytes.length > 0) return bytes;
  throw secretError("invalid secret, expected whsec_ and base64, or whsk_ or whpk_ and a key");
}

/** Decodes base64 with or without padding, because senders use both. */
function secretOf(secret: string): Uint8Array<ArrayBuffer> | undefined {
  const text = secret.startsWith("whsec_") ? secret.slice(6) : secret;
  return decodeBase64(text.includes("=") ? text : text.padEnd(Math.ceil(text.length / 4) * 4, "="));
}

function prefixOf({ id, timestamp }: MessageToSign): string {
  // With a full stop in it, the end of the identifier would be ambiguous.
  if (!isIdentifier(id) || id.includes(".")) {
    throw optionError("id", id, "1 to 256 visible characters without a full stop");
  }
  return `${id}.${timestamp}.`;
}

function isIdentifier(id: string): boolean {
  return /^[!-~]{1,256}$/.test(id);
}

/** Returns the signatures of one version; none when there are too many. */
function signaturesOf(header: string, version: "v1" | "v1a"): readonly string[] {
  if (header.length > 2048) return [];
  const pattern = version === "v1" ? /^v1,[A-Za-z\d+/]{43}=$/ : /^v1a,[A-Za-z\d+/]{86}==$/;
  const items = header.split(" ");
  if (items.length > maxSignatures) return [];
  return items.filter((item) => pattern.test(item)).map((item) => item.slice(version.length + 1));
}
