import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json, wrap, type Handler } from "@fetchwork/http";
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { bearerAuth, bearerClaimsKey, type BearerAuthOptions } from "../../src/index.ts";

const issuer = "https://id.example.com";
const audience = "https://api.example.com";
const secret = new TextEncoder().encode("a secret of at least thirty-two bytes");
let keys: CryptoKeyPair;

beforeAll(async () => {
  keys = await generateKeyPair("ES256");
});

function guard(options: BearerAuthOptions): (request: Request) => Response | Promise<Response> {
  const handler: Handler = (_, context) => json(context.get(bearerClaimsKey) ?? null);
  return wrap(handler, bearerAuth(options));
}

function withToken(token: string, path = "/"): Request {
  return new Request(`http://localhost${path}`, { headers: { authorization: `Bearer ${token}` } });
}

interface TokenChanges {
  readonly issuer?: string;
  readonly audience?: string;
  readonly expiry?: string | number;
  readonly notBefore?: number;
  readonly claims?: Record<string, unknown>;
}

function sign(changes: TokenChanges = {}): Promise<string> {
  const token = new SignJWT({ sub: "anna", ...changes.claims })
    .setProtectedHeader({ alg: "HS256" })
    .setIssuer(changes.issuer ?? issuer)
    .setAudience(changes.audience ?? audience)
    .setExpirationTime(changes.expiry ?? "5m");
  if (changes.notBefore !== undefined) token.setNotBefore(changes.notBefore);
  return token.sign(secret);
}

const now = (): number => Math.floor(Date.now() / 1000);

describe("bearerAuth()", () => {
  it("passes a valid JWT and puts its claims into the context", async () => {
    const handler = guard({ key: secret, issuer, audience });
    const response = await handler(withToken(await sign()));
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ sub: "anna", iss: issuer });
  });

  const invalid: readonly [string, TokenChanges][] = [
    ["of another issuer", { issuer: "https://evil.example" }],
    ["for another audience", { audience: "https://other.example" }],
    ["that has expired", { expiry: now() - 10 }],
    ["that is not valid yet", { notBefore: now() + 60 }],
  ];
  it.each(invalid)("refuses a JWT %s with invalid_token", async (_name, changes) => {
    const response = await guard({ key: secret, issuer, audience })(withToken(await sign(changes)));
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  });

  it("refuses a JWT without exp, without a signature, of another key and of another algorithm", async () => {
    const handler = guard({ key: secret, issuer, audience });
    const claims = { iss: issuer, aud: audience };
    const endless = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(secret);
    const unsigned = new UnsecuredJWT({ ...claims, exp: now() + 60 }).encode();
    const other = await new SignJWT({ ...claims, exp: now() + 60 })
      .setProtectedHeader({ alg: "HS256" })
      .sign(new TextEncoder().encode("another secret of thirty-two bytes!"));
    const longer = await new SignJWT({ ...claims, exp: now() + 60 })
      .setProtectedHeader({ alg: "HS512" })
      .sign(secret);
    for (const token of [endless, unsigned, other, longer, "opaque", "a.b.c"]) {
      expect((await handler(withToken(token))).status).toBe(401);
    }
  });

  it("tolerates clocks that differ, when it is allowed to", async () => {
    const token = await sign({ expiry: now() - 3 });
    const handler = guard({ key: secret, issuer, audience, clockTolerance: 10 });
    expect((await handler(withToken(token))).status).toBe(200);
  });

  it("takes a public key and a function of jose", async () => {
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime("1m")
      .sign(keys.privateKey);
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: "1", alg: "ES256" };
    for (const key of [keys.publicKey, createLocalJWKSet({ keys: [jwk] })]) {
      const handler = guard({ key, issuer, audience });
      expect((await handler(withToken(token))).status).toBe(200);
    }
  });

  it("fetches a key set, and fails the request when the set cannot be fetched", async () => {
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: "1", alg: "ES256" };
    let status = 500;
    const server = createServer((_request, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ keys: [jwk] }));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuer(issuer)
      .setAudience(audience)
      .setExpirationTime("1m")
      .sign(keys.privateKey);
    const handler = guard({ jwksUrl: `http://127.0.0.1:${port}/`, issuer, audience });
    await expect(handler(withToken(token))).rejects.toThrow();
    status = 200;
    expect((await handler(withToken(token))).status).toBe(200);
    server.close();
  });

  const refusals: readonly [string, RequestInit & { path?: string }, number, string][] = [
    ["a request without a token", {}, 401, 'Bearer realm="api"'],
    ["other credentials", { headers: { authorization: "Basic YTpi" } }, 401, 'Bearer realm="api"'],
    [
      "a malformed header",
      { headers: { authorization: "Bearer a b" } },
      400,
      'Bearer realm="api", error="invalid_request"',
    ],
    [
      "an empty token",
      { headers: { authorization: "Bearer " } },
      400,
      'Bearer realm="api", error="invalid_request"',
    ],
    [
      "a token in the query",
      { path: "/?access_token=right" },
      400,
      'Bearer realm="api", error="invalid_request"',
    ],
    [
      "a token that verify() does not know",
      { headers: { authorization: "bearer wrong" } },
      401,
      'Bearer realm="api", error="invalid_token"',
    ],
    [
      "a token without a scope",
      { headers: { authorization: "Bearer right" } },
      403,
      'Bearer realm="api", error="insufficient_scope", scope="read write"',
    ],
  ];
  it.each(refusals)("responds to %s as RFC 6750 has it", async (_name, init, status, challenge) => {
    const handler = guard({
      verify: (token) => (token === "right" ? { scope: "read" } : undefined),
      scopes: ["read", "write"],
      realm: "api",
    });
    const response = await handler(new Request(`http://localhost${init.path ?? "/"}`, init));
    expect(response.status).toBe(status);
    expect(response.headers.get("www-authenticate")).toBe(challenge);
  });

  it("takes scopes from a text, a list and scp", async () => {
    for (const claims of [{ scope: "a b" }, { scope: ["b", "a"] }, { scp: ["a", "b"] }]) {
      const handler = guard({ verify: () => claims, scopes: ["a", "b"] });
      expect((await handler(withToken("t"))).status).toBe(200);
    }
  });

  it("refuses whatever verify() returns that is not an object", async () => {
    for (const claims of [true, 1, "yes", null, false]) {
      const handler = guard({ verify: () => claims as never });
      expect((await handler(withToken("t"))).status).toBe(401);
    }
  });

  const wrong: readonly [string, object][] = [
    ["source of validity", {}],
    ["source of validity", { key: secret, verify: () => ({}), issuer, audience }],
    ["issuer", { key: secret, audience }],
    ["audience", { key: secret, issuer }],
    ["audience", { key: secret, issuer, audience: [] }],
    ["at least 32 bytes", { key: new Uint8Array(31), issuer, audience }],
    ["algorithm", { key: secret, issuer, audience, algorithms: ["RS256"] }],
    ["algorithm", { jwksUrl: "https://a.example", issuer, audience, algorithms: ["HS256"] }],
    ["algorithm", { jwksUrl: "https://a.example", issuer, audience, algorithms: ["none"] }],
    ["https: URL", { jwksUrl: "http://a.example", issuer, audience }],
    ["clockTolerance", { key: secret, issuer, audience, clockTolerance: -1 }],
    ["issuer", { verify: () => ({}), issuer }],
    ["scope", { verify: () => ({}), scopes: ["a b"] }],
  ];
  it.each(wrong)("refuses options with a wrong %s", (message, options) => {
    expect(() => bearerAuth(options)).toThrow(message);
  });
});
