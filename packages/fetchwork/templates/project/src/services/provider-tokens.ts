// #if oidc
import type { OidcClient } from "@fetchwork/oauth2/oidc";
import type { Store } from "@fetchwork/documents";
import { Problem, type Authentication } from "@fetchwork/rest";
import { withoutSlash, type Provider } from "./providers.ts";

/** A token of a provider that holds here. */
interface ProviderClaims {
  readonly issuer: string;
  readonly sub: string;
}

/** Longest token that is looked at, in characters. */
const maxLength = 8192;

/**
 * Lets callers show access tokens of providers (RFC 9068) where they may show ours: signed by the provider, for the
 * audience that is this API, and of somebody who is linked to a user. A token for the sign-in, an ID token, is none.
 */
export function acceptProviderTokens(
  authentication: Authentication,
  providers: readonly Provider[],
  {
    store,
    client,
  }: {
    readonly store: Store;
    readonly client: (provider: Provider) => Promise<OidcClient>;
  },
): Authentication {
  const byIssuer = new Map(providers.map((provider) => [withoutSlash(provider.issuer), provider]));
  const { tokens } = authentication;

  return {
    ...authentication,
    async admit(rule, evidence) {
      const token = /^bearer +(\S+) *$/i.exec(evidence.authorization ?? "")?.[1];
      const provider =
        token === undefined ? undefined : byIssuer.get(withoutSlash(issuerOf(token) ?? ""));
      if (token === undefined || provider === undefined)
        return authentication.admit(rule, evidence);
      const claims = await verify(token, provider, client);
      const { findLinked } = await import("./linked-users.ts");
      const account = claims === undefined ? undefined : await findLinked(store, claims);
      if (account === undefined) return authentication.admit(rule, evidence);
      // From here on it counts as one of ours, with every rule.
      const authorization = `Bearer ${await tokens.issue(account)}`;
      return authentication.admit(rule, { ...evidence, authorization });
    },
  };
}

/** The issuer that a token names; nothing of it is verified. */
function issuerOf(token: string): string | undefined {
  const [, payload, signature, ...more] = token.length > maxLength ? [] : token.split(".");
  if (payload === undefined || signature === undefined || more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    const isRecord = typeof claims === "object" && claims !== null && "iss" in claims;
    return isRecord && typeof claims.iss === "string" ? claims.iss : undefined;
  } catch {
    return undefined;
  }
}

async function verify(
  token: string,
  provider: Provider,
  clientOf: (provider: Provider) => Promise<OidcClient>,
): Promise<ProviderClaims | undefined> {
  const [{ jwtVerify, errors }, { OAuth2Error }, { TokenValidationError }] = await Promise.all([
    import("jose"),
    import("@fetchwork/oauth2"),
    import("@fetchwork/oauth2/oidc"),
  ]);
  const { audience } = provider;
  try {
    const { jwks, metadata } = await clientOf(provider);
    // As the provider writes it, which is what its ID tokens have.
    const { issuer } = metadata;
    if (jwks === undefined) return undefined;
    const { payload, protectedHeader } = await jwtVerify(token, (header) => jwks.getKey(header), {
      issuer,
      audience,
      algorithms: ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
      requiredClaims: ["sub", "exp"],
      clockTolerance: 30,
    });
    const { sub, cnf } = payload;
    const type = (protectedHeader.typ ?? "jwt").toLowerCase().replace(/^application\//, "");
    // One that is bound to a key is no bearer token (RFC 9449, 7.1; RFC 8705, 3).
    const isBearer = (type === "at+jwt" || type === "jwt") && cnf === undefined;
    return isBearer && typeof sub === "string" ? { issuer, sub } : undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TokenValidationError)
      return undefined;
    if (!(error instanceof OAuth2Error)) throw error;
    throw new Problem(503, { detail: `${provider.name} does not serve now`, cause: error });
  }
}
// #endif
