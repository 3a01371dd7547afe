import { exportJWK, exportPKCS8, generateKeyPair, jwtVerify, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  AccessToken,
  OAuth2Client,
  signJwt,
  type ConnectionBuilder,
  type ConnectionOpts,
  type Fetch,
  type OAuth2ClientOptions,
} from "../../src/index.ts";
import { configure, resetSettings } from "../../src/compat/index.ts";
import { json, startScriptedServer, type ScriptedServer } from "../scripted-server.ts";

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  resetSettings();
});

function clientOf(
  options: OAuth2ClientOptions = {},
  secret: string | null = "secret",
): OAuth2Client {
  return new OAuth2Client("id", secret, { site: server.origin, ...options });
}

const option = expect.objectContaining({ code: "ERR_OAUTH_OPTION" });
const form = (index = 0): URLSearchParams => new URLSearchParams(server.seen[index]?.body);

describe("options", () => {
  const wrong = [
    { sites: "https://e.org" },
    { site: "e.org" },
    { authorizeUrl: "" },
    { tokenUrl: "" },
    { revokeUrl: "" },
    { site: "ftp://e.org" },
    { site: "https://u:p@e.org" },
    { authScheme: "basic" },
    { tokenMethod: "put" },
    { basicEncoding: "loose" },
    { fetch: "fetch" },
    { clock: 1 },
    { logger: {} },
    { logger: null },
    { maxRedirects: -1 },
    { maxResponseBytes: 1.5 },
    { allowedOrigins: "all" },
    { connectionOpts: { timeOut: 1 } },
    { connectionOpts: { timeout: -1 } },
    { connectionOpts: { timeout: 2 ** 31 } },
    { connectionOpts: { headers: { "x\n": "1" } } },
    { connectionOpts: { cert: "x" }, fetch: (): Response => new Response() },
  ];
  it.each(wrong)("refuses %j", (options) => {
    expect(() => Reflect.construct(OAuth2Client, ["id", "secret", options])).toThrow(option);
  });

  it("refuses client_secret_jwt without a secret", () => {
    expect(() => clientOf({ authScheme: "client_secret_jwt" }, null)).toThrow(option);
  });

  it.each<ConnectionOpts>([{}, { timeout: 5 }, { proxy: false }, { cert: "", key: "" }])(
    "refuses tls_client_auth with nothing that has a certificate: %j",
    (connectionOpts) => {
      const options: OAuth2ClientOptions = { authScheme: "tls_client_auth", connectionOpts };
      const site = server.origin;
      const log = ({ use }: ConnectionBuilder): unknown => use((next) => next);
      for (const build of [undefined, log]) {
        const make = (): OAuth2Client => new OAuth2Client("id", null, { site, ...options }, build);
        expect(make).toThrow(option);
        expect(make).toThrow("tls_client_auth needs a certificate");
      }
    },
  );

  it("takes tls_client_auth with a fetch or an adapter of the caller's own", async () => {
    const sent: string[] = [];
    const own: Fetch = async (request) => {
      sent.push(await request.text());
      return Response.json({ access_token: "A" });
    };
    const authScheme = "tls_client_auth";
    const { origin: site } = server;
    const given = new OAuth2Client("id", null, { site, authScheme, fetch: own });
    const built = new OAuth2Client("id", null, { site, authScheme }, (connection) => {
      connection.use((next) => next).adapter(own);
    });
    for (const one of [given, built]) await one.clientCredentials.getToken();
    const body = "grant_type=client_credentials&client_id=id";
    expect(sent).toEqual([body, body]);
  });

  it("refuses a path without a site when it is used", () => {
    expect(() => new OAuth2Client("id").authCode.authorizeUrl()).toThrow(option);
  });

  it("says what an assertion lacks", async () => {
    await expect(clientOf().assertion.getToken({ iss: "a" }, Object({}))).rejects.toMatchObject({
      code: "ERR_OAUTH_OPTION",
      message: "the encoding needs an algorithm and a key",
    });
    expect(server.seen).toEqual([]);
  });

  it("refuses client_secret in an authorization URL", () => {
    expect(() => clientOf().authCode.authorizeUrl({ client_secret: "x" })).toThrow(option);
    expect(() => clientOf().implicit.authorizeUrl({ client_secret: "x" })).toThrow(option);
  });

  it("changes none that it was given", async () => {
    const options = Object.freeze({
      site: server.origin,
      connectionOpts: Object.freeze({ headers: { "x-a": "1" } }),
    });
    await new OAuth2Client("id", "secret", options).clientCredentials.getToken(
      Object.freeze({ scope: "a" }),
    );
    expect(server.seen[0]?.headers["x-a"]).toBe("1");
  });
});

describe("client authentication", () => {
  it("is none by default for a client without a secret", async () => {
    await clientOf({}, null).clientCredentials.getToken();
    expect(server.seen[0]?.headers["authorization"]).toBeUndefined();
    expect(form().get("client_id")).toBe("id");
  });

  it("sends Basic with an empty secret where it is asked for", async () => {
    await clientOf({ authScheme: "basic_auth" }, null).clientCredentials.getToken();
    expect(server.seen[0]?.headers["authorization"]).toBe(`Basic ${btoa("id:")}`);
  });

  it("sends Basic credentials raw where it is asked for", async () => {
    const client = new OAuth2Client("a:b", "ü %+", { site: server.origin, basicEncoding: "raw" });
    await client.clientCredentials.getToken();
    const sent = server.seen[0]?.headers["authorization"]?.slice("Basic ".length) ?? "";
    expect(Buffer.from(sent, "base64").toString("utf8")).toBe("a:b:ü %+");
  });

  it("calls a function for every request, and waits for it", async () => {
    const client = clientOf({
      issuer: "https://issuer.example",
      authScheme: async ({ body, headers, endpoint, issuer }) => {
        await Promise.resolve();
        body.set("own", "1");
        headers.set("x-for", `${issuer} ${endpoint.pathname}`);
      },
    });
    await client.clientCredentials.getToken();
    await client.revokeToken("T");
    expect(server.seen.map(({ headers }) => headers["x-for"])).toEqual([
      "https://issuer.example /oauth/token",
      "https://issuer.example /oauth/revoke",
    ]);
    expect(form(1).get("own")).toBe("1");
  });

  const algorithms = ["RS256", "PS256", "ES256", "ES384", "ES512", "EdDSA"] as const;
  it.each(algorithms)("signs private_key_jwt with %s, as JWK, PEM and CryptoKey", async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    const jwk = { ...(await exportJWK(privateKey)), alg, kid: "k1" };
    const keys = [
      { key: jwk },
      { key: await exportPKCS8(privateKey), alg, kid: "k1" },
      { key: privateKey, kid: "k1" },
    ];
    const assertions = new Set<string>();
    for (const clientKey of keys) {
      server.seen.length = 0;
      await clientOf(
        { authScheme: "private_key_jwt", clientKey },
        null,
      ).clientCredentials.getToken();
      expect(form().get("client_assertion_type")).toBe(
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      );
      const assertion = form().get("client_assertion") ?? "";
      assertions.add(assertion);
      const { payload, protectedHeader } = await jwtVerify(assertion, publicKey, {
        issuer: "id",
        subject: "id",
        audience: `${server.origin}/oauth/token`,
        requiredClaims: ["jti", "iat", "exp"],
      });
      expect(protectedHeader).toEqual({ kid: "k1", alg });
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(60);
    }
    expect(assertions.size).toBe(keys.length);
  });

  it("names the issuer as audience when it is known, or what the key says", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const issuer = "https://issuer.example";
    const audience = ["https://a.example", "https://b.example"];
    for (const clientKey of [{ key: privateKey }, { key: privateKey, audience, lifetime: 5 }]) {
      server.seen.length = 0;
      await clientOf({
        authScheme: "private_key_jwt",
        clientKey,
        issuer,
      }).clientCredentials.getToken();
      const { payload } = await jwtVerify(form().get("client_assertion") ?? "", publicKey);
      expect(payload.aud).toEqual("audience" in clientKey ? audience : issuer);
    }
  });

  it("signs client_secret_jwt with the secret", async () => {
    const secret = "a-secret-of-thirty-two-characters";
    await clientOf({ authScheme: "client_secret_jwt" }, secret).clientCredentials.getToken();
    const assertion = form().get("client_assertion") ?? "";
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: "HS256" });
    await jwtVerify(assertion, new TextEncoder().encode(secret), { subject: "id" });
    expect(server.seen[0]?.body).not.toContain(secret);
  });

  it("refuses private_key_jwt without a key, before anything is sent", async () => {
    await expect(
      clientOf({ authScheme: "private_key_jwt" }).clientCredentials.getToken(),
    ).rejects.toEqual(option);
    expect(server.seen).toEqual([]);
  });

  it("sends the client_assertion of a call for private_key_jwt without a key", async () => {
    const assertion = { client_assertion: "J.W.T", client_assertion_type: "type" };
    const token = await clientOf({ authScheme: "private_key_jwt" }).getToken({
      grant_type: "client_credentials",
      ...assertion,
    });
    expect(Object.fromEntries(form())).toEqual({ grant_type: "client_credentials", ...assertion });
    await expect(token.refresh()).rejects.toThrow();
    expect(server.seen).toHaveLength(1);
  });

  it.each(["none", "HS1", "", "rs256"])("refuses to sign with %j", async (algorithm) => {
    await expect(signJwt({}, "key", { algorithm })).rejects.toEqual(option);
  });

  it("refuses a key that does not fit, without showing it", async () => {
    for (const [key, algorithm] of [
      ["-----BEGIN RSA PRIVATE KEY-----hidden", "RS256"],
      ["hidden", "ES256"],
      ["", "HS256"],
    ] as const) {
      const error: unknown = await signJwt({}, key, { algorithm }).catch(
        (reason: unknown) => reason,
      );
      expect(error).toEqual(option);
      expect(String(error)).not.toContain("hidden");
    }
  });
});

describe("assertion", () => {
  it("refuses what is not an encoding, before anything is sent", async () => {
    const { assertion } = clientOf();
    for (const args of [
      [{}, {}],
      [{}, { algorithm: "HS256" }],
      [{}],
      [null, { algorithm: "HS256", key: "k" }],
    ]) {
      await expect(Reflect.apply(assertion.getToken, assertion, args)).rejects.toEqual(option);
    }
    expect(server.seen).toEqual([]);
  });
});

describe("tokens", () => {
  it("are read from a JSON body, also where a parameter is named like an option", async () => {
    server.script = [
      json({
        access_token: "A",
        scope: "read",
        expires_in: 60,
        refresh_token: "R",
        id_token: "I",
        token_type: "Bearer",
      }),
    ];
    const token = await clientOf({ clock: () => 1_000_000 }).clientCredentials.getToken({
      resource: ["https://a", "https://b"],
    });
    expect(token).toMatchObject({
      token: "A",
      scope: "read",
      refreshToken: "R",
      idToken: "I",
      tokenType: "Bearer",
      expiresIn: 60,
      expiresAt: 1060,
    });
    expect(token.expires()).toBe(true);
    expect(token.response?.status).toBe(200);
    expect(form().getAll("resource")).toEqual(["https://a", "https://b"]);
  });

  it("go through JSON and back with everything that they are", () => {
    const client = clientOf({ clock: () => 1_000_000 });
    const mode = { get: "query" };
    const token = AccessToken.fromHash(
      client,
      {
        access_token: "A",
        refresh_token: "R",
        expires_in: 100,
        scope: "s",
        id_token: "I",
        nested: { a: [1] },
      },
      {
        mode: { get: "query" },
        headerFormat: "X %s",
        paramName: "p",
        expiresLatency: 10,
        tokenName: "access_token",
      },
    );
    const again = AccessToken.fromHash(client, JSON.parse(JSON.stringify(token.toHash())));
    expect(again.toHash()).toEqual(token.toHash());
    expect(again.toHash()).toEqual({
      access_token: "A",
      refresh_token: "R",
      expires_at: 1100,
      scope: "s",
      id_token: "I",
      nested: { a: [1] },
      mode,
      header_format: "X %s",
      param_name: "p",
      token_name: "access_token",
      expires_latency: 10,
    });
    expect(again.expired(1089)).toBe(false);
    expect(again.expired(1090)).toBe(true);
  });

  it("refuse to refresh and to revoke what is not there, and revoke what is", async () => {
    const token = AccessToken.fromHash(clientOf(), { access_token: "A" });
    await expect(token.refresh()).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
    await expect(token.revoke({ token_type_hint: "refresh_token" })).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN",
    });
    const refreshOnly = AccessToken.fromHash(clientOf(), { refresh_token: "R" });
    const asAccessToken = refreshOnly.revoke({ token_type_hint: "access_token" });
    await expect(asAccessToken).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN" });
    expect(server.seen).toEqual([]);
    await refreshOnly.revoke();
    expect([...form()]).toEqual([
      ["token", "R"],
      ["token_type_hint", "refresh_token"],
    ]);
  });

  it("keep their options, and what the answer left out, when they are refreshed", async () => {
    server.script = [json({ access_token: "A2", expires_in: 5, mode: "body" })];
    const token = AccessToken.fromHash(
      clientOf(),
      { access_token: "A", refresh_token: "R", scope: "s", other: 1 },
      { mode: "query", paramName: "p", expiresLatency: 3 },
    );
    const fresh = await token.refresh({ resource: "https://a" });
    expect(fresh).not.toBe(token);
    expect(token.token).toBe("A");
    expect(fresh).toMatchObject({
      token: "A2",
      refreshToken: "R",
      scope: "s",
      expiresIn: 5,
      options: { mode: "query", paramName: "p", expiresLatency: 3 },
    });
    expect(fresh.params).toEqual({ scope: "s", mode: "body" });
    expect(form().get("resource")).toBe("https://a");
  });

  it("are read from the fragment of a callback, whose errors are thrown", () => {
    const client = clientOf();
    const token = AccessToken.fromKvform(
      client,
      "#access_token=A&mode=query&state=s&expires_in=10",
    );
    expect(token).toMatchObject({
      token: "A",
      options: { mode: "header" },
      params: { state: "s" },
    });
    expect(() =>
      AccessToken.fromKvform(client, "?error=access_denied&error_description=no+way"),
    ).toThrow(expect.objectContaining({ code: "access_denied", description: "no way" }));
  });
});

const diskFull = new Error("the disk is full");
it.each<[string, () => unknown]>([
  [
    "throws",
    () => {
      throw diskFull;
    },
  ],
  ["rejects", () => Promise.reject(diskFull)],
])("a client returns the token when its logger %s", async (_, debug) => {
  configure({ silenceExtraTokensWarning: false });
  server.script = [json({ access_token: "new", id_token: "i" })];
  const client = clientOf({ debug: true, logger: { debug } });
  expect((await client.clientCredentials.getToken()).token).toBe("new");
});

describe("warnings", () => {
  const lines: string[] = [];
  const logger = { debug: (line: string) => void lines.push(line) };
  beforeEach(() => {
    lines.length = 0;
  });

  it("are silent by default", () => {
    const client = clientOf({ logger });
    AccessToken.fromHash(client, { access_token: "A", id_token: "I" });
    expect(() => AccessToken.fromHash(client, {})).toThrow();
    expect(lines).toEqual([]);
  });

  it("name the fields that may be the token, and the one that is used", () => {
    configure({ silenceExtraTokensWarning: false });
    AccessToken.fromHash(clientOf({ logger }), { access_token: "hidden", id_token: "hidden" });
    expect(lines).toEqual([
      "OAuth2: the response has several fields that may be the token (access_token, id_token); access_token is used, tokenName chooses another",
    ]);
  });

  it("name the fields that are there when the token is not", () => {
    configure({ silenceNoTokensWarning: false });
    expect(() =>
      AccessToken.fromHash(clientOf({ logger }), { jwt: "hidden" }, { tokenName: "foo" }),
    ).toThrow(expect.objectContaining({ code: "ERR_OAUTH_RESPONSE" }));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /no field "foo" among \["jwt"\]; keys became snake case unless snaky is false$/,
    );
  });

  it("says once that secrets are in URLs", async () => {
    const client = clientOf({ logger, tokenMethod: "post_with_query_string" });
    await client.clientCredentials.getToken();
    await client.clientCredentials.getToken();
    expect(lines).toHaveLength(1);
    expect(server.seen[0]).toMatchObject({
      method: "POST",
      target: "/oauth/token?grant_type=client_credentials",
      body: "",
    });
  });
});

describe("connection", () => {
  it("is customized by the function that the constructor takes", async () => {
    const steps: string[] = [];
    const client = new OAuth2Client("id", "secret", { site: "https://e.org" }, (connection) => {
      connection
        .use((next) => (request) => {
          steps.push(`first ${request.method}`);
          return next(request);
        })
        .use((next) => (request) => {
          steps.push(`second ${new URL(request.url).pathname}`);
          return next(request);
        })
        .adapter(async (request) => {
          steps.push(await request.text());
          return Response.json({ access_token: "A" });
        });
    });
    expect((await client.clientCredentials.getToken()).token).toBe("A");
    expect(steps).toEqual(["first POST", "second /oauth/token", "grant_type=client_credentials"]);
  });

  it("refuses an encoding, middleware or adapter that cannot be one", () => {
    for (const [name, value] of [
      ["request", "xml"],
      ["use", 1],
      ["adapter", "net"],
    ] as const) {
      const build = (connection: object): unknown =>
        Reflect.apply(Reflect.get(connection, name), connection, [value]);
      expect(() => Reflect.construct(OAuth2Client, ["id", null, {}, build])).toThrow(option);
    }
  });
});

describe("authorizeUrl of a client", () => {
  const redirectUri = "https://app.example/callback";
  const client = new OAuth2Client("abc", "def", { site: "https://as.example", redirectUri });
  const sent = (url: string): Record<string, string> =>
    Object.fromEntries(new URL(url).searchParams);

  it("adds the redirect URI of the client to the parameters, and nothing else", () => {
    expect(sent(client.authorizeUrl({ a: "b" }))).toEqual({ a: "b", redirect_uri: redirectUri });
    expect(
      sent(new OAuth2Client("abc", "def", { site: "https://as.example" }).authorizeUrl()),
    ).toEqual({});
  });

  it("takes one of the call in either spelling, or none for null", () => {
    const other = "https://app.example/other";
    expect(sent(client.authorizeUrl({ redirect_uri: other }))).toEqual({ redirect_uri: other });
    expect(sent(client.authorizeUrl({ redirectUri: other }))).toEqual({ redirect_uri: other });
    expect(sent(client.authorizeUrl({ redirect_uri: null }))).toEqual({});
  });
});
