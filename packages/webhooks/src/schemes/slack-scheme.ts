import { constantTimeEqual } from "@fetchwork/kit";
import { createHmacKey } from "./hmac-key.ts";
import { checkOptions } from "../check-options.ts";
import { headerOf, type HeaderReader } from "../headers.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { secretBytes } from "./secret-bytes.ts";
import { createTimestampCheck, timestampOptionNames, type TimestampOptions } from "./timestamp.ts";

const signatureHeader = "x-slack-signature";
const timestampHeader = "x-slack-request-timestamp";

/**
 * Slack's version 0: HMAC-SHA256 of `v0:<timestamp>:<body>`.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function slackScheme(options: TimestampOptions = {}): SignatureScheme {
  checkOptions("slackScheme", options, timestampOptionNames);
  const isTimely = createTimestampCheck(options);
  const checkHeaders: SignatureScheme["checkHeaders"] = (headers) => {
    if (!/^v0=[\da-f]{64}$/.test(headerOf(headers, signatureHeader))) return "signature";
    return isTimely(headerOf(headers, timestampHeader)) ? undefined : "timestamp";
  };
  return {
    name: "Slack",
    signatureHeader,
    requiredHeaders: [signatureHeader, timestampHeader],
    checkHeaders,
    createKey: (secret) => {
      const key = createHmacKey(secretBytes(secret), "SHA-256");
      return {
        sign: async ({ timestamp, body }) => ({
          [timestampHeader]: String(timestamp),
          [signatureHeader]: `v0=${await key.digest("hex", `v0:${timestamp}:`, body)}`,
        }),
        verify: async ({ headers, body }) => {
          if (checkHeaders(headers) !== undefined) return false;
          const received = headerOf(headers, signatureHeader).slice(3);
          const expected = await key.digest("hex", signedPrefix(headers), body);
          return constantTimeEqual(received, expected);
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}

function signedPrefix(headers: HeaderReader): string {
  return `v0:${headerOf(headers, timestampHeader)}:`;
}
