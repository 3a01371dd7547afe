import type { ClientAuthenticator } from "../credentials/client-authentication.ts";
import { checkSigningKey, signJwt } from "../credentials/sign-jwt.ts";
import type { SigningKey } from "../credentials/signing-key.ts";
import { optionError } from "../errors.ts";
import { checkOptions } from "../check-options.ts";

/** Options of {@link appleClientSecret}. */
export interface AppleKey {
  /** The Services ID. */
  readonly clientId: string;
  readonly teamId: string;
  readonly keyId: string;
  /** The private key (P-256); the text of the file `AuthKey_….p8` is one. */
  readonly key: SigningKey;
}

/**
 * Makes the `authScheme` of Apple: a client secret that is a JWT, signed for each request (`ES256`,
 * five minutes).
 *
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`
 */
export function appleClientSecret(options: AppleKey): ClientAuthenticator {
  checkOptions("appleClientSecret", options, ["clientId", "teamId", "keyId", "key"]);
  const { clientId, teamId, keyId, key } = options;
  for (const [name, value] of Object.entries({ clientId, teamId, keyId })) {
    if (typeof value !== "string" || value === "") throw optionError(name, value, "text");
  }
  checkSigningKey(key, "ES256", "appleClientSecret");
  return async ({ body }) => {
    const iat = Math.floor(Date.now() / 1000);
    const aud = "https://appleid.apple.com";
    const claims = { iss: teamId, sub: clientId, aud, iat, exp: iat + 300 };
    body.set("client_id", clientId);
    body.set("client_secret", await signJwt(claims, key, { algorithm: "ES256", kid: keyId }));
  };
}
