import fc from "fast-check";
import { CompactSign, exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK } from "jose";
import * as oauth from "oauth4webapi";
import { beforeAll, describe, expect, it } from "vitest";
import { RemoteJwks, TokenValidationError, verifyIdToken } from "../../src/oidc/index.ts";
import type { VerifyIdTokenOptions } from "../../src/oidc/jwt/verify-id-token.ts";

const issuer = "https://op.example";
const clientId = "client";
const now = Math.floor(Date.now() / 1000);
const base = { iss: issuer, aud: clientId, sub: "user", iat: now, exp: now + 300, nonce: "n-1" };

const algorithms = ["RS256", "PS256", "ES256", "ES384", "Ed25519", "EdDSA"];
const keys = new Map<string, { readonly privateKey: CryptoKey; readonly jwk: JWK }>();
let jwksUri = "";
let documents: ReadonlyMap<string, unknown> = new Map();
const serve = (url: string): Response => Response.json(documents.get(url), { status: 200 });

beforeAll(async () => {
  for (const alg of [...algorithms, "RS256-other"]) {
    const pair = await generateKeyPair(alg.replace("-other", ""), { extractable: true });
    const jwk = { ...(await exportJWK(pair.publicKey)), kid: alg, alg: alg.replace("-other", "") };
    keys.set(alg, { privateKey: pair.privateKey, jwk });
  }
  jwksUri = `${issuer}/jwks`;
  const published = algorithms.map((alg) => keys.get(alg)?.jwk);
  documents = new Map([[jwksUri, { keys: published }]]);
});

interface Case {
  readonly claims?: object;
  readonly header?: object;
  readonly alg?: string;
  readonly signWith?: string;
  readonly nonce?: string;
  readonly maxAge?: number;
  /** Last change to the compact form. */
  readonly mangle?: (jwt: string) => string;
}

async function make({
  claims,
  header,
  alg = "RS256",
  signWith = alg,
  mangle,
}: Case): Promise<string> {
  const key = keys.get(signWith)?.privateKey;
  if (key === undefined) throw new Error(`no key ${signWith}`);
  const payload = JSON.parse(JSON.stringify({ ...base, ...claims }));
  const jwt = await new SignJWT(payload)
    .setProtectedHeader({ alg, kid: alg, ...header })
    .sign(key, { crit: { "http://e.org/x": true, b64: true } });
  return mangle?.(jwt) ?? jwt;
}

async function ours(jwt: string, { nonce = "n-1", maxAge, alg }: Case): Promise<string> {
  const key = new RemoteJwks(jwksUri, { fetch: ({ url }) => serve(url) });
  const options: VerifyIdTokenOptions = { issuer, clientId, key, nonce, maxAge };
  try {
    const allowed = alg === undefined ? undefined : [alg];
    const claims = await verifyIdToken(jwt, { ...options, algorithms: allowed });
    expect(claims.sub).toBeTypeOf("string");
    return "accepts";
  } catch (error) {
    expect(error).toBeInstanceOf(TokenValidationError);
    return "refuses";
  }
}

/** The whole of what oauth4webapi does with an ID token, its signature included. */
async function oracle(
  jwt: string,
  { nonce = "n-1", maxAge, alg = "RS256" }: Case,
): Promise<string> {
  const server = { issuer, jwks_uri: jwksUri };
  const client = { client_id: clientId, id_token_signed_response_alg: alg };
  const body = { access_token: "at", token_type: "bearer", id_token: jwt };
  const response = Response.json(body);
  try {
    await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      ...(maxAge !== undefined && { maxAge }),
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, response, {
      [oauth.customFetch]: async (url) => serve(url),
    });
    return "accepts";
  } catch {
    return "refuses";
  }
}

const editPayload = (change: (json: string) => string) => (jwt: string) => {
  const [header, payload = "", signature] = jwt.split(".");
  const json = change(Buffer.from(payload, "base64url").toString());
  return [header, Buffer.from(json).toString("base64url"), signature].join(".");
};

const cases: readonly (readonly [name: string, verdict: string, case_: Case])[] = [
  ["a plain token", "accepts", {}],
  ...algorithms.map((alg) => [`one signed with ${alg}`, "accepts", { alg }] as const),
  ["one without kid while one key fits", "accepts", { header: { kid: undefined } }],
  ["an unknown kid", "refuses", { header: { kid: "other" } }],
  ["a kid of another algorithm's key", "refuses", { header: { kid: "PS256" } }],
  ["the signature of another key", "refuses", { signWith: "RS256-other" }],
  ["a changed payload", "refuses", { mangle: editPayload((json) => json.replace("user", "root")) }],
  ["no signature", "refuses", { mangle: (jwt) => jwt.replace(/[^.]+$/, "") }],
  ["a cut-off signature", "refuses", { mangle: (jwt) => jwt.slice(0, -8) }],
  ["two parts", "refuses", { mangle: (jwt) => jwt.split(".").slice(0, 2).join(".") }],
  ["four parts", "refuses", { mangle: (jwt) => `${jwt}.x` }],
  ["five parts", "refuses", { mangle: (jwt) => `${jwt}.x.y` }],
  ["a payload that is a list", "refuses", { mangle: editPayload(() => "[]") }],
  ["a payload that is not JSON", "refuses", { mangle: editPayload(() => "{") }],
  ["a header that is not JSON", "refuses", { mangle: (jwt) => jwt.replace(/^[^.]+/, "e30x") }],
  ["a header without alg", "refuses", { mangle: (jwt) => jwt.replace(/^[^.]+/, "e30") }],
  ["alg none", "refuses", { mangle: () => new UnsecuredJWT(base).encode() }],
  ["critical extensions", "refuses", { header: { crit: ["http://e.org/x"], "http://e.org/x": 1 } }],
  ["the critical extension b64", "refuses", { header: { crit: ["b64"], b64: true } }],
  ["another issuer", "refuses", { claims: { iss: "https://evil.example" } }],
  ["the issuer with a slash", "refuses", { claims: { iss: `${issuer}/` } }],
  ["no issuer", "refuses", { claims: { iss: undefined } }],
  ["an issuer that is a number", "refuses", { claims: { iss: 1 } }],
  ["no subject", "refuses", { claims: { sub: undefined } }],
  ["another audience", "refuses", { claims: { aud: "other" } }],
  ["no audience", "refuses", { claims: { aud: undefined } }],
  ["another audience in a list", "refuses", { claims: { aud: ["other"] } }],
  ["other audiences, azp us", "refuses", { claims: { aud: ["other", "x"], azp: clientId } }],
  ["an audience in a list", "accepts", { claims: { aud: [clientId] } }],
  ["two audiences", "refuses", { claims: { aud: [clientId, "other"] } }],
  ["two audiences, azp us", "accepts", { claims: { aud: [clientId, "other"], azp: clientId } }],
  ["two audiences, azp other", "refuses", { claims: { aud: [clientId, "other"], azp: "other" } }],
  ["one audience, azp other", "accepts", { claims: { azp: "other" } }],
  ["an audience that contains ours", "refuses", { claims: { aud: `${clientId}x` } }],
  ["no exp", "refuses", { claims: { exp: undefined } }],
  ["exp in the past", "refuses", { claims: { exp: now - 120 } }],
  ["exp just beyond the tolerance", "refuses", { claims: { exp: now - 31 } }],
  ["exp within the tolerance", "accepts", { claims: { exp: now - 5 } }],
  ["exp as text", "refuses", { claims: { exp: String(now + 300) } }],
  ["no iat", "refuses", { claims: { iat: undefined } }],
  ["iat as text", "refuses", { claims: { iat: String(now) } }],
  ["iat long ago", "accepts", { claims: { iat: now - 86_400 } }],
  ["nbf to come", "refuses", { claims: { nbf: now + 300 } }],
  ["nbf within the tolerance", "accepts", { claims: { nbf: now + 5 } }],
  ["nbf as text", "refuses", { claims: { nbf: "0" } }],
  ["another nonce", "refuses", { claims: { nonce: "n-2" } }],
  ["no nonce", "refuses", { claims: { nonce: undefined } }],
  ["a nonce in a list", "refuses", { claims: { nonce: ["n-1"] } }],
  ["auth_time as text", "refuses", { claims: { auth_time: "1" } }],
  ["a recent auth_time for maxAge", "accepts", { claims: { auth_time: now - 10 }, maxAge: 60 }],
  ["an old auth_time for maxAge", "refuses", { claims: { auth_time: now - 600 }, maxAge: 60 }],
  ["a little too old auth_time", "refuses", { claims: { auth_time: now - 92 }, maxAge: 60 }],
  ["no auth_time for maxAge", "refuses", { maxAge: 60 }],
  ["an old auth_time without maxAge", "accepts", { claims: { auth_time: 1 } }],
  ["extra claims", "accepts", { claims: { email: "a@b.c", groups: ["x"] } }],
  ["an algorithm that was not registered", "refuses", { alg: "RS256", header: { alg: "PS256" } }],
];

describe("verifyIdToken, next to oauth4webapi", () => {
  it.each(cases.filter(([name]) => !name.includes("not registered")))(
    "judges %s alike: %s",
    async (_name, verdict, case_) => {
      const jwt = await make(case_);
      expect({ ours: await ours(jwt, case_), oracle: await oracle(jwt, case_) }).toEqual({
        ours: verdict,
        oracle: verdict,
      });
    },
  );

  it("refuses an algorithm that was not registered, as oauth4webapi does", async () => {
    const jwt = await make({ alg: "ES256" });
    const registered = { alg: "RS256" };
    expect([await ours(jwt, registered), await oracle(jwt, registered)]).toEqual([
      "refuses",
      "refuses",
    ]);
  });
});

describe("verifyIdToken", () => {
  const secret = new TextEncoder().encode("a client secret of thirty-two bytes or more");
  const signHs = (claims: object): Promise<string> =>
    new SignJWT({ ...base, ...claims }).setProtectedHeader({ alg: "HS256" }).sign(secret);
  const options: VerifyIdTokenOptions = {
    issuer,
    clientId,
    key: secret,
    algorithms: ["HS256"],
    nonce: "n-1",
  };

  it.each([
    ["no algorithms", { algorithms: [] }],
    ["alg none", { algorithms: ["none"] }],
    ["an unknown algorithm", { algorithms: ["RS257"] }],
    ["an empty client identifier", { clientId: "" }],
    ["a negative tolerance", { clockTolerance: -1 }],
    ["an empty nonce", { nonce: "" }],
    ["a negative maxAge", { maxAge: -1 }],
  ])("throws for %s", async (_case, wrong) => {
    const promise = verifyIdToken(await signHs({}), { ...options, ...wrong });
    await expect(promise).rejects.toMatchObject({ code: "ERR_OAUTH_OPTION" });
  });

  it("verifies HS256 with the client secret where that is allowed, and only there", async () => {
    const jwt = await signHs({});
    expect(await verifyIdToken(jwt, options)).toEqual(base);
    await expect(verifyIdToken(jwt, { ...options, algorithms: undefined })).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN_INVALID",
      claim: "alg",
    });
  });

  it("refuses HS256 made with a published public key", async () => {
    const jwk = keys.get("RS256")?.jwk;
    const forged = await new SignJWT(base)
      .setProtectedHeader({ alg: "HS256", kid: "RS256" })
      .sign(new TextEncoder().encode(JSON.stringify(jwk)));
    const key = new RemoteJwks(jwksUri, { fetch: ({ url }) => serve(url) });
    const promise = verifyIdToken(forged, { ...options, key, algorithms: ["RS256", "HS256"] });
    await expect(promise).rejects.toMatchObject({ code: "ERR_OAUTH_TOKEN_INVALID", claim: "kid" });
  });

  it("refuses a nonce that was not asked for, unless it is told not to look", async () => {
    const jwt = await signHs({});
    await expect(verifyIdToken(jwt, { ...options, nonce: undefined })).rejects.toMatchObject({
      claim: "nonce",
    });
    expect(await verifyIdToken(jwt, { ...options, nonce: false })).toMatchObject({ sub: "user" });
  });

  it("names the claim that is wrong, and shows neither token nor nonce", async () => {
    const jwt = await signHs({ nonce: "secret-nonce" });
    const error: unknown = await verifyIdToken(jwt, options).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "TokenValidationError", claim: "nonce" });
    expect(String(error)).not.toMatch(/secret-nonce|n-1|eyJ/);
  });

  it("takes the classes that acr may have", async () => {
    const jwt = await signHs({ acr: "gold" });
    const acrValues = ["silver", "gold"];
    expect(await verifyIdToken(jwt, { ...options, acrValues })).toMatchObject({ acr: "gold" });
    await expect(verifyIdToken(jwt, { ...options, acrValues: ["platinum"] })).rejects.toMatchObject(
      { claim: "acr" },
    );
    await expect(verifyIdToken(await signHs({}), { ...options, acrValues })).rejects.toMatchObject({
      claim: "acr",
    });
  });

  // OpenID Connect Core, appendix A.3 (RS256).
  const accessToken = "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y";
  const atHash = "77QmUPtjPfzWtF2AnpK9RQ";

  it("compares at_hash and c_hash with what they are of", async () => {
    const jwt = await signHs({ at_hash: atHash, c_hash: atHash });
    const right = { accessToken, code: accessToken };
    expect(await verifyIdToken(jwt, { ...options, ...right })).toMatchObject({ sub: "user" });
    for (const wrong of [{ accessToken: "other" }, { code: "other" }]) {
      const claim = "accessToken" in wrong ? "at_hash" : "c_hash";
      await expect(verifyIdToken(jwt, { ...options, ...wrong })).rejects.toMatchObject({ claim });
    }
  });

  it("asks a function for the issuer, which may depend on the claims", async () => {
    const tenant = "https://login.example/t1/v2";
    const jwt = await signHs({ iss: tenant, tid: "t1" });
    const of = ({ tid }: { readonly tid?: unknown }): string =>
      `https://login.example/${String(tid)}/v2`;
    expect(await verifyIdToken(jwt, { ...options, issuer: of })).toMatchObject({ iss: tenant });
    const other = await signHs({ iss: tenant, tid: "t2" });
    await expect(verifyIdToken(other, { ...options, issuer: of })).rejects.toMatchObject({
      claim: "iss",
    });
  });

  it("refuses a logout token whose header does not say so", async () => {
    const event = "http://schemas.openid.net/event/backchannel-logout";
    const claims = { nonce: undefined, sid: "s", jti: "j", events: { [event]: {} } };
    const options = {
      issuer,
      clientId,
      key: new RemoteJwks(jwksUri, { fetch: ({ url }) => serve(url) }),
    };
    await expect(verifyIdToken(await make({ claims }), options)).rejects.toMatchObject({
      claim: "events",
    });
    const other = { nonce: undefined, events: { "https://e.org/login": {} } };
    expect(await verifyIdToken(await make({ claims: other }), options)).toMatchObject({
      sub: "user",
    });
  });

  it.each(["at+jwt", "application/at+jwt", "logout+jwt", "DPoP+JWT"])(
    "refuses another token of the issuer, of type %s",
    async (typ) => {
      const jwt = await new SignJWT(base).setProtectedHeader({ alg: "HS256", typ }).sign(secret);
      await expect(verifyIdToken(jwt, options)).rejects.toMatchObject({ claim: "typ" });
    },
  );

  it("refuses whatever is not a token, and no token survives the change of one character", async () => {
    const refusal = expect.objectContaining({ code: "ERR_OAUTH_TOKEN_INVALID" });
    const text = fc.oneof(
      fc.string(),
      fc.string().map((part) => `${part}.${part}.${part}`),
    );
    await fc.assert(
      fc.asyncProperty(text, async (jwt) => {
        await expect(verifyIdToken(jwt, options)).rejects.toEqual(refusal);
      }),
    );
    const jwt = await signHs({});
    await fc.assert(
      fc.asyncProperty(
        fc.nat(jwt.length - 1),
        fc.constantFrom("A", "z", "-", "=", " ", "é"),
        async (at, character) => {
          // The last character of base64url has bits that mean nothing.
          fc.pre(jwt[at] !== character && at !== jwt.length - 1);
          const changed = `${jwt.slice(0, at)}${character}${jwt.slice(at + 1)}`;
          const call = verifyIdToken(changed, options);
          await expect(call).rejects.toEqual(refusal);
        },
      ),
    );
  });

  it.each(["[]", "null", "1", '"text"', "no JSON", ""])(
    "refuses %j in place of claims",
    async (text) => {
      const signed = await new CompactSign(new TextEncoder().encode(text))
        .setProtectedHeader({ alg: "HS256" })
        .sign(secret);
      await expect(verifyIdToken(signed, options)).rejects.toThrow("has no claims");
    },
  );

  it("says of an encrypted token that it is one", async () => {
    const five = `${await signHs({})}.x.x`;
    await expect(verifyIdToken(five, options)).rejects.toThrow("is encrypted");
  });

  it("refuses a token of more than 64 KiB before it looks inside", async () => {
    const jwt = await signHs({ blob: "x".repeat(70_000) });
    await expect(verifyIdToken(jwt, options)).rejects.toThrow(/at most 65536/);
  });

  it("keeps __proto__ a claim like others", async () => {
    const payload = JSON.stringify(base).replace("{", '{"__proto__":{"admin":true},');
    const signed = await new SignJWT(JSON.parse(payload))
      .setProtectedHeader({ alg: "HS256" })
      .sign(secret);
    const claims = await verifyIdToken(signed, options);
    expect(Reflect.get({}, "admin")).toBeUndefined();
    expect(Object.getPrototypeOf(claims)).toBe(Object.prototype);
  });
});
