import { OAuth2Error } from "@fetchwork/oauth2";
import { TokenValidationError } from "@fetchwork/oauth2/oidc";
import { errors, jwtVerify } from "jose";
import type { Connection } from "./connection.ts";
import { providerProblem } from "./connection.ts";
import type { Person } from "./linked-users.ts";

/**
 * Verifies an access token of a provider (RFC 9068): signed by the provider, for the audience that
 * is this API. An ID token is refused. Returns whom it is of; `undefined` for a token that does not
 * hold.
 *
 * @throws Problem 503 when the keys of the provider cannot be fetched
 */
export async function verifyProviderToken(
  token: string,
  { provider, settings: { audience, name } }: Connection,
): Promise<Person | undefined> {
  if (audience === undefined) return undefined;
  try {
    const { jwks, metadata } = await provider.connect();
    // The spelling of the provider, which its ID tokens have.
    const { issuer } = metadata;
    if (jwks === undefined) return undefined;
    const { payload, protectedHeader } = await jwtVerify(token, (header) => jwks.getKey(header), {
      issuer,
      audience,
      algorithms: ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
      requiredClaims: ["sub", "exp"],
      clockTolerance: 30,
    });
    const { cnf, sub } = payload;
    const type = (protectedHeader.typ ?? "jwt").toLowerCase().replace(/^application\//, "");
    // A token that is bound to a key is not a bearer token (RFC 9449, 7.1; RFC 8705, 3).
    const isBearer = (type === "at+jwt" || type === "jwt") && cnf === undefined;
    return isBearer && typeof sub === "string" ? { issuer, id: sub } : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TokenValidationError)
      return undefined;
    throw error instanceof OAuth2Error ? providerProblem(name, error) : error;
  }
}
