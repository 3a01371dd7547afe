import { signJwt } from "@fetchwork/oauth2";
import { endSessionUrl, verifyLogoutToken } from "@fetchwork/oauth2/oidc/logout";
import { expect } from "../platform.ts";

/** Verifies a logout token and rejects an expired one; makes the URL that ends a session. */
export async function smoke(): Promise<void> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const pair = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const privateKey = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const issuer = "https://id.example";
  const verify = async (exp: number): Promise<string | undefined> => {
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    const iat = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: "app", sub: "ada", jti: "1", iat, exp: iat + exp, events };
    const token = await signJwt(claims, privateKey, { algorithm: "ES256" });
    const options = { issuer, clientId: "app", key: pair.publicKey, algorithms: ["ES256"] };
    return (await verifyLogoutToken(token, options)).sub;
  };
  expect("the user who signed out", await verify(60), "ada");
  expect("an expired token", await verify(-60).catch(() => "rejected"), "rejected");
  const url = endSessionUrl({ issuer, end_session_endpoint: `${issuer}/end` }, "app");
  expect("the URL", url, `${issuer}/end?client_id=app`);
}
