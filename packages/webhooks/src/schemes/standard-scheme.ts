import { constantTimeEqual, decodeBase64 } from "@fetchwork/kit";
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
 * Standard Webhooks 1.0: `<id>.<timestamp>.<body>` signed with HMAC-SHA256 (`v1`). Secrets are
 * base64, with `whsec_` before it or not. A signature of another version is never accepted.
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
    if (signaturesOf(headerOf(headers, names.signature)).length === 0) return "signature";
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
      const key = createHmacKey(secretOf(secret, secrets), "SHA-256");
      return {
        sign: async (message) => {
          const signature = await key.digest("base64", prefixOf(message), message.body);
          return {
            [names.id]: message.id,
            [names.timestamp]: String(message.timestamp),
            [names.signature]: `v1,${signature}`,
          };
        },
        verify: async ({ headers, body }) => {
          if (checkHeaders(headers) !== undefined) return false;
          const received = signaturesOf(headerOf(headers, names.signature));
          const prefix = `${headerOf(headers, names.id)}.${headerOf(headers, names.timestamp)}.`;
          const expected = await key.digest("base64", prefix, body);
          return received.some((text) => constantTimeEqual(text, expected));
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}

function secretOf(secret: string, secrets: "base64" | "text"): Uint8Array<ArrayBuffer> {
  // Refuses what is not a text, such as a list of secrets.
  const text = secretBytes(secret);
  // Of a key pair (`whsk_`, `whpk_`) one half is public, and no secret.
  if (secrets === "text" && !/^wh(?:sec|sk|pk)_/.test(secret)) return text;
  const bytes = decodeSecret(secret);
  if (bytes !== undefined && bytes.length > 0) return bytes;
  throw secretError("invalid secret, expected whsec_ and base64");
}

/** Decodes base64 with or without padding, because senders use both. */
function decodeSecret(secret: string): Uint8Array<ArrayBuffer> | undefined {
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

/** Returns the signatures of version 1; none when there are too many. */
function signaturesOf(header: string): readonly string[] {
  if (header.length > 2048) return [];
  const items = header.split(" ");
  if (items.length > maxSignatures) return [];
  return items.filter((item) => /^v1,[A-Za-z\d+/]{43}=$/.test(item)).map((item) => item.slice(3));
}
