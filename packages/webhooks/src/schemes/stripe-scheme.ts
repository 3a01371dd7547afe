import { constantTimeEqual } from "@fetchwork/kit";
import { createHmacKey } from "./hmac-key.ts";
import { checkOptions } from "../check-options.ts";
import { headerOf } from "../headers.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { secretBytes } from "./secret-bytes.ts";
import { createTimestampCheck, timestampOptionNames, type TimestampOptions } from "./timestamp.ts";

const signatureHeader = "stripe-signature";

/** More than any sender uses: two during a rotation of secrets. */
const maxSignatures = 8;

interface StripeSignature {
  readonly timestamp: string;
  readonly digests: readonly string[];
}

/**
 * Stripe's version 1: HMAC-SHA256 of `<timestamp>.<body>`, in one header `t=…,v1=…` with one `v1`
 * for each secret.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function stripeScheme(options: TimestampOptions = {}): SignatureScheme {
  checkOptions("stripeScheme", options, timestampOptionNames);
  const isTimely = createTimestampCheck(options);
  return {
    name: "Stripe",
    signatureHeader,
    requiredHeaders: [signatureHeader],
    combine: (signatures) => {
      const [first = "", ...others] = signatures.map((each) => each[signatureHeader] ?? "");
      // All have the same timestamp.
      const digests = others.map((each) => each.slice(each.indexOf(",")));
      return { [signatureHeader]: [first, ...digests].join("") };
    },
    checkHeaders: (headers) => {
      const received = parse(headerOf(headers, signatureHeader));
      if (received === undefined) return "signature";
      return isTimely(received.timestamp) ? undefined : "timestamp";
    },
    createKey: (secret) => {
      const key = createHmacKey(secretBytes(secret), "SHA-256");
      return {
        sign: async ({ timestamp, body }) => ({
          [signatureHeader]: `t=${timestamp},v1=${await key.digest("hex", `${timestamp}.`, body)}`,
        }),
        verify: async ({ headers, body }) => {
          const received = parse(headerOf(headers, signatureHeader));
          if (received === undefined || !isTimely(received.timestamp)) return false;
          const expected = await key.digest("hex", `${received.timestamp}.`, body);
          return received.digests.some((text) => constantTimeEqual(text, expected));
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}

function parse(header: string): StripeSignature | undefined {
  if (header.length > 1024) return undefined;
  let timestamp: string | undefined;
  const digests: string[] = [];
  for (const item of header.split(",")) {
    // The second of two timestamps might not be the signed one.
    if (item.startsWith("t=") && timestamp !== undefined) return undefined;
    if (item.startsWith("t=")) timestamp = item.slice(2);
    else if (/^v1=[\da-f]{64}$/.test(item)) digests.push(item.slice(3));
  }
  if (timestamp === undefined || digests.length === 0 || digests.length > maxSignatures) {
    return undefined;
  }
  return { timestamp, digests };
}
