import { constantTimeEqual } from "@fetchwork/kit";
import { createHmacKey } from "./hmac-key.ts";
import { checkOptions } from "../check-options.ts";
import { headerOf } from "../headers.ts";
import type { SignatureScheme } from "./signature-scheme.ts";
import { secretBytes, secretError } from "./secret-bytes.ts";

/**
 * The secret itself in a header, as GitLab sends it. It proves that the sender knows the secret,
 * and nothing about the body. Use it over TLS only, and prefer a scheme that signs.
 */
export function tokenScheme(options: { readonly header: string }): SignatureScheme {
  checkOptions("tokenScheme", options, ["header"]);
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
      if (!/^[\x21-\x7e]+$/.test(secret)) {
        throw secretError("a token contains characters that are not allowed in a header");
      }
      return {
        sign: () => ({ [signatureHeader]: secret }),
        verify: ({ headers }) => constantTimeEqual(headerOf(headers, signatureHeader), secret),
        fingerprint: (label, content) => key.digest("hex", label, content),
      };
    },
  };
}
