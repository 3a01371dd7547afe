// Validates ID tokens: signature, keys and claims, with keys that are at hand. One process per
// library and algorithm; started by run.mjs with the source condition. Prints CPU µs per token.
const [, , library = "fetchwork", algorithm = "RS256", amountText = "20000"] = process.argv;
const amount = Number(amountText);
const issuer = "https://op.example";
const clientId = "app";
const nonce = "n-0S6_WzA2Mj";

const { exportJWK, generateKeyPair, SignJWT } = await import("jose");
const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
const jwk = { ...(await exportJWK(publicKey)), kid: "key-1", alg: algorithm, use: "sig" };
const now = Math.floor(Date.now() / 1000);
const idToken = await new SignJWT({
  iss: issuer,
  aud: clientId,
  sub: "248289761001",
  nonce,
  iat: now,
  exp: now + 3600,
  auth_time: now,
  name: "Jane Doe",
  email: "jane@example.com",
  email_verified: true,
})
  .setProtectedHeader({ alg: algorithm, kid: "key-1" })
  .sign(privateKey);
const metadata = {
  issuer,
  token_endpoint: `${issuer}/token`,
  jwks_uri: `${issuer}/jwks`,
  id_token_signing_alg_values_supported: [algorithm],
};
const keys = () => Response.json({ keys: [jwk] });
const answer = { access_token: "at", token_type: "bearer", id_token: idToken };

const makers = {
  async fetchwork() {
    const { RemoteJwks, verifyIdToken } = await import("@fetchwork/oauth2/oidc");
    const key = new RemoteJwks(metadata.jwks_uri, { fetch: keys });
    const options = { issuer, clientId, key, nonce, algorithms: [algorithm] };
    return () => verifyIdToken(idToken, options);
  },
  // The signature is checked by a second call only; both need a Response, which is made outside of
  // what is measured.
  async oauth4webapi() {
    const oauth = await import("oauth4webapi");
    const client = { client_id: clientId };
    const checks = { expectedNonce: nonce, requireIdToken: true };
    const options = { [oauth.customFetch]: keys };
    return async (response) => {
      await oauth.processAuthorizationCodeResponse(metadata, client, response, checks);
      await oauth.validateApplicationLevelSignature(metadata, response, options);
    };
  },
  // There is no call for the ID token alone: this is the exchange of a code, with an answer that
  // costs nothing to send.
  async "openid-client"() {
    const client = await import("openid-client");
    const config = new client.Configuration(metadata, clientId, undefined, client.None());
    client.enableNonRepudiationChecks(config);
    let prepared;
    config[client.customFetch] = (url) => (url.endsWith("/jwks") ? keys() : prepared);
    const callback = new URL("https://app.example/cb?code=c&state=s");
    const checks = { expectedState: "s", expectedNonce: nonce, pkceCodeVerifier: "v" };
    return (response) => {
      prepared = response;
      return client.authorizationCodeGrant(config, callback, checks);
    };
  },
};

const validate = await makers[library]();
const responses = (count) => Array.from({ length: count }, () => Response.json(answer));
for (const response of responses(2000)) await validate(response);
const prepared = responses(amount);
const before = process.cpuUsage();
for (const response of prepared) await validate(response);
const { user, system } = process.cpuUsage(before);
console.log((user + system) / amount);
