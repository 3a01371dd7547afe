import { constantTimeEqual } from "@fetchwork/kit";
import { createHmacKey } from "./hmac-key.ts";
import { checkOptionNames } from "../check-options.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { secretBytes, secretError } from "./secret-bytes.ts";
import { headerOf } from "./timestamp.ts";

const fixed = new Uint8Array(0);

/**
 * The secret itself in a header, as GitLab sends it. It proves that the sender knows the secret, and nothing about the
 * body. Use it over TLS only, and prefer a scheme that signs.
 */
export function tokenScheme(options: { readonly header: string }): SignatureScheme {
  checkOptionNames(options, { owner: "tokenScheme", names: ["header"] });
  const signatureHeader = options.header.toLowerCase();
  return {
    name: "token",
    signatureHeader,
    requiredHeaders: [signatureHeader],
    carriesSecret: true,
    checkHeaders: (headers) =>
      headerOf(headers, signatureHeader).length > 0 ? undefined : "signature",
    createKey: (secret) => {
      const key = createHmacKey(secretBytes(secret), "SHA-256");
      // Compares digests, so that the time does not depend on the length of the secret.
      const expected = key.digest("hex", secret, fixed);
      if (!/^[\x21-\x7e]+$/.test(secret)) {
        throw secretError("a token contains characters that are not allowed in a header");
      }
      return {
        sign: () => ({ [signatureHeader]: secret }),
        verify: ({ headers }) => {
          const received = key.digest("hex", headerOf(headers, signatureHeader), fixed);
          return typeof received === "string" && typeof expected === "string"
            ? constantTimeEqual(received, expected)
            : Promise.all([received, expected]).then(([left, right]) =>
                constantTimeEqual(left, right),
              );
        },
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}
