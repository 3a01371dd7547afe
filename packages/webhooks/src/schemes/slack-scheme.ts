import { constantTimeEqual } from "../constant-time-equal.ts";
import { createHmacKey } from "../hmac-key.ts";
import type { HeaderReader, SignatureScheme } from "../signature-scheme.ts";
import { secretBytes } from "./secret-bytes.ts";
import { createTimestampCheck, headerOf, type TimestampOptions } from "./timestamp.ts";

const signatureHeader = "x-slack-signature";
const timestampHeader = "x-slack-request-timestamp";

/**
 * Slack's version 0: HMAC-SHA256 of `v0:<timestamp>:<body>`.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function slackScheme(options: TimestampOptions = {}): SignatureScheme {
  const isTimely = createTimestampCheck(options);
  const faultOf: SignatureScheme["faultOf"] = (headers) => {
    if (!/^v0=[\da-f]{64}$/.test(headerOf(headers, signatureHeader))) return "signature";
    return isTimely(headerOf(headers, timestampHeader)) ? undefined : "timestamp";
  };
  return {
    name: "Slack",
    signatureHeader,
    requiredHeaders: [signatureHeader, timestampHeader],
    faultOf,
    createKey: (secret) => {
      const key = createHmacKey(secretBytes(secret), "SHA-256");
      return {
        sign: async ({ timestamp, body }) => ({
          [timestampHeader]: String(timestamp),
          [signatureHeader]: `v0=${await key.digest("hex", `v0:${timestamp}:`, body)}`,
        }),
        verify: ({ headers, body }) => {
          if (faultOf(headers) !== undefined) return false;
          const given = headerOf(headers, signatureHeader).slice(3);
          const digest = key.digest("hex", signedPrefix(headers), body);
          return typeof digest === "string"
            ? constantTimeEqual(digest, given)
            : digest.then((text) => constantTimeEqual(text, given));
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}

function signedPrefix(headers: HeaderReader): string {
  return `v0:${headerOf(headers, timestampHeader)}:`;
}
