import { signJwt } from "@fetchwork/oauth2";
import { OidcClient } from "@fetchwork/oauth2/oidc";
import { expect, type Platform } from "../platform.ts";

/**
 * Discovers a small provider, signs in with PKCE, and checks ID tokens: a right one, and one with
 * another nonce.
 */
export async function smoke(platform: Platform): Promise<void> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const publicKey = await crypto.subtle.exportKey("jwk", pair.publicKey);
  const privateKey = await crypto.subtle.exportKey("jwk", pair.privateKey);
  let nonce = "";
  const listener = await platform.listen(async (request) => {
    const { pathname, origin } = new URL(request.url);
    if (pathname === "/.well-known/openid-configuration") {
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        jwks_uri: `${origin}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["ES256"],
      });
    }
    if (pathname === "/jwks") {
      return Response.json({ keys: [{ ...publicKey, kid: "1", alg: "ES256", use: "sig" }] });
    }
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: origin, sub: "ada", aud: "app", iat: now, exp: now + 60, nonce };
    const id_token = await signJwt(claims, privateKey, { algorithm: "ES256", kid: "1" });
    return Response.json({ access_token: "token", token_type: "Bearer", expires_in: 60, id_token });
  });

  const redirectUri = "https://app.example/callback";
  const client = await OidcClient.discover(listener.origin, "app", null, {
    redirectUri,
    idTokenAlgorithms: ["ES256"],
  });
  const signIn = async (shown: (asked: string) => string): Promise<string | undefined> => {
    const { url, transaction } = await client.authCode.start({ scope: "openid" });
    const asked = new URL(url).searchParams;
    nonce = shown(asked.get("nonce") ?? "");
    const back = `${redirectUri}?code=c&state=${asked.get("state")}`;
    return client.claims(await client.authCode.callback(back, transaction))?.sub;
  };
  expect("who signed in", await signIn((asked) => asked), "ada");
  const refused = await signIn(() => "another").catch(() => "refused");
  expect("an ID token of another sign-in", refused, "refused");
  await listener.close();
}
