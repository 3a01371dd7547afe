import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { tmpdir } from "node:os";
import { exportJWK, generateKeyPair, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  authorizedFetch,
  withAccessToken,
  DocumentTokenStore,
  OAuth2Client,
  OAuth2UsageError,
  signJwt,
  TokenManager,
} from "../../src/index.ts";
import { configure, snakyHashClass } from "../../src/compat/index.ts";
import { FileTokenStore } from "../../src/node/file-token-store.ts";
import { nodeTransport } from "../../src/node/node-transport.ts";
import { discover, DPoP, OidcClient, RemoteJwks, verifyIdToken } from "../../src/oidc/index.ts";
import { verifyLogoutToken } from "../../src/oidc/logout/index.ts";
import { startScriptedServer, type ScriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server[Symbol.asyncDispose]());

const site = "https://server.example";
const client = new OAuth2Client("id", "secret", { site });
const metadata = {
  issuer: site,
  authorization_endpoint: `${site}/authorize`,
  token_endpoint: `${site}/token`,
  end_session_endpoint: `${site}/logout`,
};
const oidc = new OidcClient(metadata, "id", "secret");
const token = new AccessToken(client, "A");

/** Calls a function with arguments that its types refuse. */
function call(target: unknown, name: string, ...values: readonly unknown[]): unknown {
  const method: unknown = Reflect.get(Object(target), name);
  if (typeof method !== "function") throw new Error(`no method ${name}`);
  return Reflect.apply(method, target, values) as unknown;
}
const make = (type: unknown, ...values: readonly unknown[]): unknown =>
  Reflect.construct(type as new () => unknown, values);
const run = (fn: unknown, ...values: readonly unknown[]): unknown =>
  Reflect.apply(fn as () => unknown, undefined, values);

type Take = (options: object) => unknown;

/** Whatever takes options, a misspelt one, and what was probably meant. */
const takers: readonly (readonly [name: string, wrong: string, meant: string, take: Take])[] = [
  ["OAuth2Client", "auth_scheme", "authScheme", (o) => make(OAuth2Client, "id", "s", o)],
  [
    "connectionOpts",
    "time_out",
    "timeout",
    (o) => make(OAuth2Client, "i", "s", { connectionOpts: o }),
  ],
  ["clientKey", "algo", "alg", (o) => make(OAuth2Client, "i", "s", { clientKey: o })],
  ["a request", "raise_errors", "raiseErrors", (o) => call(client, "request", "get", "/r", o)],
  ["a request", "header", "headers", (o) => call(token, "get", "/r", o)],
  ["authCode.start", "lifeTime", "lifetime", (o) => call(client.authCode, "start", {}, o)],
  [
    "the encoding of an assertion",
    "identifier",
    "",
    (o) => call(client.assertion, "getToken", {}, { algorithm: "HS256", key: "k", ...o }),
  ],
  ["authorizedFetch", "allowOrigins", "allowedOrigins", (o) => run(authorizedFetch, token, o)],
  ["authorizedFetch", "allowed_origins", "allowedOrigins", (o) => run(authorizedFetch, token, o)],
  ["withAccessToken", "allowed-origins", "allowedOrigins", (o) => run(withAccessToken, token, o)],
  ["TokenManager", "onchange", "onChange", (o) => make(TokenManager, client, o)],
  [
    "TokenManager.getToken",
    "minvalidity",
    "minValidity",
    (o) => call(new TokenManager(client), "getToken", o),
  ],
  ["DocumentTokenStore", "leasetime", "leaseTime", (o) => make(DocumentTokenStore, {}, o)],
  ["FileTokenStore", "locktimeout", "lockTimeout", (o) => make(FileTokenStore, tmpdir(), o)],
  ["nodeTransport", "certs", "cert", (o) => run(nodeTransport, o)],
  ["configure", "filtered_label", "filteredLabel", (o) => run(configure, o)],
  ["snakyHashClass", "loadvalue", "loadValue", (o) => run(snakyHashClass, o)],
  ["signJwt", "alg", "", (o) => run(signJwt, {}, "k", o)],
  [
    "OidcClient",
    "id_token_algorithms",
    "idTokenAlgorithms",
    (o) => make(OidcClient, metadata, "id", null, o),
  ],
  ["OidcClient", "discovery", "", (o) => make(OidcClient, metadata, "id", null, o)],
  [
    "OidcClient.discover",
    "expected_issuer",
    "expectedIssuer",
    (o) => call(OidcClient, "discover", site, "id", null, o),
  ],
  ["verifyIdToken", "max_age", "maxAge", (o) => call(oidc, "verifyIdToken", "t", o)],
  ["verifyIdToken", "issuer", "", (o) => call(oidc, "verifyIdToken", "t", o)],
  [
    "verifyLogoutToken",
    "rememberonce",
    "rememberOnce",
    (o) => call(oidc, "verifyLogoutToken", "t", o),
  ],
  ["verifyIdToken", "clientID", "clientId", (o) => run(verifyIdToken, "t", o)],
  ["verifyLogoutToken", "client_id", "clientId", (o) => run(verifyLogoutToken, "t", o)],
  [
    "userInfo",
    "expected_sub",
    "expectedSub",
    (o) => call(oidc, "userInfo", "t", { expectedSub: false, ...o }),
  ],
  ["introspect", "token_type_hint", "tokenTypeHint", (o) => call(oidc, "introspect", "t", o)],
  ["pushAuthorization", "signals", "signal", (o) => call(oidc, "pushAuthorization", {}, o)],
  ["endSessionUrl", "id_token_hint", "idTokenHint", (o) => call(oidc, "endSessionUrl", o)],
  ["device.start", "signals", "signal", (o) => call(oidc.device, "start", {}, o)],
  ["device.poll", "waits", "wait", (o) => call(oidc.device, "poll", {}, o)],
  [
    "tokenExchange.getToken",
    "subject_token",
    "subjectToken",
    (o) => call(oidc.tokenExchange, "getToken", o),
  ],
  ["discover", "algoritm", "algorithm", (o) => run(discover, site, o)],
  ["RemoteJwks", "allow_insecure", "allowInsecure", (o) => make(RemoteJwks, site, o)],
  ["DPoP.generate", "algoritm", "algorithm", (o) => call(DPoP, "generate", o)],
  ["DPoP.fromKeys", "private_key", "privateKey", (o) => call(DPoP, "fromKeys", o)],
];

async function messageOf(taken: () => unknown): Promise<string> {
  try {
    await taken();
  } catch (error) {
    expect(error).toBeInstanceOf(OAuth2UsageError);
    expect(error).toMatchObject({ code: "ERR_OAUTH_OPTION" });
    return error instanceof Error ? error.message : "";
  }
  throw new Error("nothing was thrown");
}

describe("options", () => {
  it.each(takers)("of %s are checked by name: %s is refused", async (owner, wrong, meant, take) => {
    const advice = meant === "" ? "; it has " : `, did you mean "${meant}"?`;
    const message = await messageOf(() => take({ [wrong]: 1 }));
    expect(message).toContain(`${owner} has no option "${wrong}"${advice}`);
  });

  it.each([
    ["header_format", "headerFormat"],
    ["param_name", "paramName"],
    ["expires_latency", "expiresLatency"],
    ["token_name", "tokenName"],
    ["HeaderFormat", "headerFormat"],
    ["refresh-params", "refreshParams"],
  ])("of a token are refused in another spelling: %s", async (wrong, meant) => {
    const options = { [wrong]: "x %s" };
    const takesOptions: readonly (() => unknown)[] = [
      () => new AccessToken(client, "A", options),
      () => AccessToken.fromHash(client, { access_token: "A" }, options),
      () => AccessToken.fromKvform(client, "access_token=A", options),
    ];
    for (const take of takesOptions) {
      expect(await messageOf(take)).toBe(
        `unknown token option "${wrong}", did you mean "${meant}"?`,
      );
    }
  });

  it("of a token are refused in another spelling before anything is sent", async () => {
    const own = new OAuth2Client("id", "secret", { site: server.origin });
    await messageOf(() => own.clientCredentials.getToken({}, { header_format: "x %s" }));
    const known = AccessToken.fromHash(own, { refresh_token: "R" });
    await messageOf(() => known.refresh({}, { expires_latency: 5 }));
    expect(server.seen).toHaveLength(0);
  });

  it("of a token may be any fields, and stand in a stored hash and in a response by their wire names", () => {
    const own = new AccessToken(client, "A", { scope: "s", model: 1, custom: true });
    expect(own.params).toEqual({ scope: "s", model: 1, custom: true });
    const stored = { access_token: "A", header_format: "X %s", param_name: "p" };
    expect(AccessToken.fromHash(client, stored).options).toMatchObject({ headerFormat: "X %s" });
    const { params } = AccessToken.fromKvform(client, "access_token=A&header_format=E%20%25s");
    expect(params).toEqual({ header_format: "E %s" });
  });
});

describe("configuration that cannot work", () => {
  const wrong: readonly (readonly [name: string, make: () => unknown, message: string])[] = [
    [
      "no identifier",
      () => make(OAuth2Client, undefined, "s"),
      "the client identifier must be text",
    ],
    ["an empty identifier", () => make(OAuth2Client, "", "s"), ', got ""'],
    ["a number as secret", () => make(OAuth2Client, "id", 5), "the client secret must be text"],
    [
      "a token URL on another host",
      () => make(OAuth2Client, "id", "s", { site, tokenUrl: "//x" }),
      "tokenUrl is invalid",
    ],
    [
      "a revocation URL that is not a URL",
      () => make(OAuth2Client, "id", "s", { revokeUrl: "ftp://x" }),
      "revokeUrl is invalid",
    ],
    [
      "an empty authorization URL",
      () => make(OAuth2Client, "id", "s", { authorizeUrl: "" }),
      ', got ""',
    ],
    [
      "text for raiseErrors",
      () => make(OAuth2Client, "id", "s", { raiseErrors: "no" }),
      'raiseErrors must be true or false, got "no"',
    ],
    [
      "a number for redirectUri",
      () => make(OAuth2Client, "id", "s", { redirectUri: 5 }),
      "redirectUri must be text that is not",
    ],
    [
      "text for debug",
      () => make(OAuth2Client, "id", "s", { debug: "false" }),
      'debug must be true or false, got "false"',
    ],
    [
      "an issuer that is a list",
      () => make(OAuth2Client, "id", "s", { issuer: [site] }),
      ", got a list",
    ],
    [
      "a proof that is none",
      () => make(OAuth2Client, "id", "s", { dpop: {} }),
      "dpop must be a proof",
    ],
    [
      "a key that is none",
      () => make(OAuth2Client, "id", null, { clientKey: { key: "nope" } }),
      "the key of clientKey is invalid",
    ],
    [
      "a key that is missing",
      () => make(OAuth2Client, "id", null, { clientKey: {} }),
      "the key of clientKey is invalid",
    ],
    [
      "a public key",
      () => make(OAuth2Client, "id", null, { clientKey: { key: { kty: "RSA" } } }),
      "the key of clientKey is invalid",
    ],
    [
      "an unknown algorithm",
      () =>
        make(OAuth2Client, "id", null, { clientKey: { key: { kty: "RSA", d: "x" }, alg: "RS1" } }),
      ', got "RS1"',
    ],
    [
      "a key object that is none",
      () => make(OAuth2Client, "id", null, { clientKey: { key: 5 } }),
      "the key of clientKey is invalid",
    ],
  ];
  it.each(wrong)("is refused where it is given: %s", async (_name, build, message) => {
    expect(await messageOf(build)).toContain(message);
  });

  it("shows nothing of a key that is refused", async () => {
    const clientKey = { key: "-----BEGIN RSA PRIVATE KEY-----SECRET" };
    expect(await messageOf(() => new OAuth2Client("id", null, { clientKey }))).not.toContain(
      "SECRET",
    );
  });

  it("is not a public client, whose identifier or secret is null", () => {
    expect(new OAuth2Client("id", null, { site }).id).toBe("id");
    expect(new OAuth2Client(null, undefined, { site }).id).toBeNull();
  });

  it.each([
    ["a code", () => call(client.authCode, "getToken", undefined)],
    ["a user name", () => call(client.password, "getToken", undefined, "p")],
    ["a password", () => call(client.password, "getToken", "u", undefined)],
    ["a token to revoke", () => call(client, "revokeToken", undefined)],
  ])("is refused before anything is sent when %s is missing", async (_name, send) => {
    await messageOf(send);
  });
});

describe("the algorithm of a key", () => {
  const kinds: readonly (readonly [algorithm: string, make: () => KeyObject])[] = [
    ["RS256", () => generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey],
    ["ES256", () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey],
    ["ES384", () => generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey],
    ["ES512", () => generateKeyPairSync("ec", { namedCurve: "P-521" }).privateKey],
    ["EdDSA", () => generateKeyPairSync("ed25519").privateKey],
  ];

  it.each(kinds)("is found for PEM and JWK: %s", async (algorithm, generate) => {
    const key = generate();
    const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
    for (const form of [pem, key.export({ format: "jwk" })]) {
      const own = new OAuth2Client("id", null, {
        site: server.origin,
        authScheme: "private_key_jwt",
        clientKey: { key: form },
      });
      server.seen.length = 0;
      await own.clientCredentials.getToken();
      const assertion = new URLSearchParams(server.seen[0]?.body).get("client_assertion") ?? "";
      const publicKey = createPublicKey(key);
      const { protectedHeader } = await jwtVerify(assertion, publicKey);
      expect(protectedHeader.alg).toBe(algorithm);
    }
  });

  it("is asked for where the key does not tell it, by the name of its option", async () => {
    const ed448 = generateKeyPairSync("ed448").privateKey;
    const pem = ed448.export({ type: "pkcs8", format: "pem" }).toString();
    const message = (key: unknown): Promise<string> =>
      messageOf(() => make(OAuth2Client, "id", null, { clientKey: { key } }));
    expect(await message(pem)).toContain("the algorithm of clientKey must be set");
    expect(await message(ed448)).toContain("the key of clientKey is invalid");
  });

  it("is that of a CryptoKey", async () => {
    const { privateKey, publicKey } = await generateKeyPair("PS384");
    const jwt = await signJwt({ a: 1 }, privateKey);
    expect((await jwtVerify(jwt, publicKey)).protectedHeader.alg).toBe("PS384");
    expect(await exportJWK(publicKey)).toMatchObject({ kty: "RSA" });
  });
});
