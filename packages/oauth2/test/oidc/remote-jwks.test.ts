import { exportJWK, generateKeyPair, SignJWT, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { RemoteJwks, verifyIdToken, type RemoteJwksOptions } from "../../src/oidc/index.ts";

const url = "https://op.example/jwks";
const keys = new Map<string, { readonly privateKey: CryptoKey; readonly jwk: JWK }>();

beforeAll(async () => {
  for (const kid of ["a", "b"]) {
    const pair = await generateKeyPair("ES256", { extractable: true });
    const jwk = { ...(await exportJWK(pair.publicKey)), kid, alg: "ES256", use: "sig" };
    keys.set(kid, { privateKey: pair.privateKey, jwk });
  }
});

const jwkOf = (kid: string): JWK => keys.get(kid)?.jwk ?? {};

/** Keys that a test can change, how often they were fetched, and a clock that a test can move. */
function publish(...kids: readonly string[]): {
  document: unknown;
  fetches: number;
  now: number;
  fail: boolean;
  readonly jwks: (options?: RemoteJwksOptions) => RemoteJwks;
} {
  const state = {
    document: { keys: kids.map(jwkOf) } as unknown,
    fetches: 0,
    now: 1_000_000,
    fail: false,
    jwks: (options: RemoteJwksOptions = {}) =>
      new RemoteJwks(url, {
        clock: () => state.now,
        fetch: async () => {
          state.fetches += 1;
          if (state.fail) throw new TypeError("fetch failed");
          return Response.json(state.document);
        },
        ...options,
      }),
  };
  return state;
}

const es = (kid?: string): { readonly alg: string; readonly kid?: string | undefined } => ({
  alg: "ES256",
  kid,
});

describe("RemoteJwks", () => {
  it.each([
    ["a URL that is none", () => new RemoteJwks("jwks")],
    ["a limit of 0 bytes", () => new RemoteJwks(url, { maxResponseBytes: 0 })],
  ])("throws for %s", (_case, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "ERR_OAUTH_OPTION" }));
  });

  it("looks at 200 keys of a set and no more", async () => {
    const { jwks, ...state } = publish("a");
    const others = Array.from({ length: 200 }, (_, index) => ({ kty: "EC", kid: `k${index}` }));
    const keysOf = (document: unknown): RemoteJwks =>
      jwks({ fetch: () => Response.json(document), clock: () => state.now });
    const some = keysOf({ keys: [...others.slice(1), jwkOf("a")] });
    expect(await some.getKey(es("a"))).toBeInstanceOf(CryptoKey);
    await expect(keysOf({ keys: [...others, jwkOf("a")] }).getKey(es("a"))).rejects.toMatchObject({
      claim: "kid",
    });
  });

  it("refuses to fetch over http from another machine, unless that is allowed", async () => {
    const open = new RemoteJwks("http://op.example/jwks", { fetch: () => Response.json({}) });
    await expect(open.getKey(es("a"))).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
    const state = publish("a");
    const allowed = new RemoteJwks("http://op.example/jwks", {
      allowInsecure: true,
      fetch: () => Response.json(state.document),
    });
    expect(await allowed.getKey(es("a"))).toBeInstanceOf(CryptoKey);
  });

  it.each([
    ["a status of 500", () => new Response("{}", { status: 500 })],
    ["a redirect", () => Response.redirect("https://evil.example/jwks", 302)],
    ["HTML", () => new Response("<html>")],
    ["a list", () => Response.json([])],
    ["no keys", () => Response.json({})],
    ["keys that are no list", () => Response.json({ keys: {} })],
    ["keys that are no objects", () => Response.json({ keys: ["a"] })],
    ["a malformed key", () => Response.json({ keys: [{ ...jwkOf("a"), x: "!" }] })],
    ["a key off the curve", () => Response.json({ keys: [{ ...jwkOf("a"), x: jwkOf("b").x }] })],
  ])("refuses %s", async (_case, answer) => {
    const jwks = new RemoteJwks(url, { fetch: answer });
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ code: "ERR_OAUTH_METADATA" });
  });

  it("refuses a set that is larger than allowed", async () => {
    const jwks = new RemoteJwks(url, {
      maxResponseBytes: 100,
      fetch: () => Response.json({ keys: [jwkOf("a")] }),
    });
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({
      code: "ERR_OAUTH_RESPONSE_TOO_LARGE",
    });
  });

  it.each<readonly [string, JWK]>([
    ["for encryption", { use: "enc" }],
    ["that may only sign", { key_ops: ["sign"] }],
    ["of another algorithm", { alg: "ES384" }],
    ["of another type", { kty: "RSA" }],
    ["of another curve", { crv: "P-384" }],
    ["with another identifier", { kid: "z" }],
  ])("does not take a key %s", async (_case, change) => {
    const jwks = new RemoteJwks(url, {
      fetch: () => Response.json({ keys: [{ ...jwkOf("a"), ...change }] }),
    });
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({
      code: "ERR_OAUTH_TOKEN_INVALID",
      claim: "kid",
    });
  });

  it("does not take a secret that a server published by mistake", async () => {
    const jwks = new RemoteJwks(url, {
      fetch: () => Response.json({ keys: [{ kty: "oct", k: "c2VjcmV0", kid: "a" }] }),
    });
    await expect(jwks.getKey({ alg: "HS256", kid: "a" })).rejects.toMatchObject({ claim: "kid" });
  });

  it("uses the public half of a private key that a server published by mistake", async () => {
    const privateKey = keys.get("a")?.privateKey;
    if (privateKey === undefined) throw new Error("no key");
    const jwks = new RemoteJwks(url, {
      fetch: async () => Response.json({ keys: [{ ...(await exportJWK(privateKey)), kid: "a" }] }),
    });
    expect(await jwks.getKey(es("a"))).toMatchObject({ type: "public" });
  });

  it("needs a kid when several keys fit, and none when one does", async () => {
    const several = publish("a", "b").jwks();
    await expect(several.getKey(es())).rejects.toMatchObject({ claim: "kid" });
    expect(await publish("a").jwks().getKey(es())).toBeInstanceOf(CryptoKey);
  });

  it("fetches once for a thousand callers, and returns the key without a promise afterwards", async () => {
    const state = publish("a", "b");
    const jwks = state.jwks();
    const found = await Promise.all(Array.from({ length: 1000 }, async () => jwks.getKey(es("a"))));
    expect(state.fetches).toBe(1);
    expect(jwks.getKey(es("a"))).toBe(found[0]);
  });

  it("finds a key that was added, and forgets one that was withdrawn", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    await jwks.getKey(es("a"));
    state.document = { keys: [jwkOf("b")] };
    state.now += 30_000;
    expect(await jwks.getKey(es("b"))).toBeInstanceOf(CryptoKey);
    expect(state.fetches).toBe(2);
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ claim: "kid" });
  });

  it("does not fetch again within the cooldown, whatever keys tokens invent", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    await jwks.getKey(es("a"));
    state.now += 29_999;
    for (let index = 0; index < 100; index += 1) {
      await expect(jwks.getKey(es(`invented-${index}`))).rejects.toMatchObject({ claim: "kid" });
    }
    expect(state.fetches).toBe(1);
  });

  it("fetches again when the keys are old", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    await jwks.getKey(es("a"));
    state.now += 599_999;
    await jwks.getKey(es("a"));
    expect(state.fetches).toBe(1);
    state.now += 1;
    await jwks.getKey(es("a"));
    expect(state.fetches).toBe(2);
  });

  it("tries a failed fetch again after a second, and not before", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    state.fail = true;
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    state.fail = false;
    state.now += 999;
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    expect(state.fetches).toBe(1);
    state.now += 1;
    expect(await jwks.getKey(es("a"))).toBeInstanceOf(CryptoKey);
  });

  it("uses old keys for an hour while the issuer fails, and fetches once a second", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    const key = await jwks.getKey(es("a"));
    state.fail = true;
    state.now += 600_000;
    for (let count = 0; count < 10; count += 1) expect(await jwks.getKey(es("a"))).toBe(key);
    expect(state.fetches).toBe(2);
    await expect(jwks.getKey(es("b"))).rejects.toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    state.now += 3_600_000 - 1;
    expect(await jwks.getKey(es("a"))).toBe(key);
    state.now += 1000;
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    state.fail = false;
    state.document = { keys: [jwkOf("b")] };
    state.now += 1000;
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ claim: "kid" });
    expect(await jwks.getKey(es("b"))).toBeInstanceOf(CryptoKey);
  });

  it("does not make callers with an old key wait for an issuer that failed and now hangs", async () => {
    const state = publish("a");
    let hangs = false;
    const jwks = state.jwks({
      fetch: async () => {
        if (hangs) return new Promise<Response>(() => {});
        if (state.fail) throw new TypeError("fetch failed");
        return Response.json(state.document);
      },
    });
    const key = await jwks.getKey(es("a"));
    state.fail = true;
    state.now += 600_000;
    await jwks.getKey(es("a"));
    hangs = true;
    state.now += 1000;
    expect(await jwks.getKey(es("a"))).toBe(key);
  });

  it("fetches again when the clock was set back, after a failure and with keys", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    state.fail = true;
    await expect(jwks.getKey(es("a"))).rejects.toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    state.fail = false;
    state.now -= 3_600_000;
    expect(await jwks.getKey(es("a"))).toBeInstanceOf(CryptoKey);
    state.now -= 3_600_000;
    await jwks.getKey(es("a"));
    expect(state.fetches).toBe(3);
  });

  it("keeps fresh keys when a fetch for another one fails", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    const key = await jwks.getKey(es("a"));
    state.fail = true;
    state.now += 30_000;
    await expect(jwks.getKey(es("b"))).rejects.toMatchObject({ code: "ERR_OAUTH_CONNECTION" });
    expect(jwks.getKey(es("a"))).toBe(key);
  });

  it("verifies tokens across a rotation", async () => {
    const state = publish("a");
    const jwks = state.jwks();
    const now = Math.floor(Date.now() / 1000);
    const sign = async (kid: string): Promise<string> => {
      const { privateKey } = keys.get(kid) ?? {};
      if (privateKey === undefined) throw new Error("no key");
      return new SignJWT({ iss: "i", aud: "c", sub: "s", iat: now, exp: now + 60 })
        .setProtectedHeader({ alg: "ES256", kid })
        .sign(privateKey);
    };
    const options = { issuer: "i", clientId: "c", key: jwks, algorithms: ["ES256"] };
    await verifyIdToken(await sign("a"), options);
    state.document = { keys: [jwkOf("a"), jwkOf("b")] };
    state.now += 30_000;
    expect(await verifyIdToken(await sign("b"), options)).toMatchObject({ sub: "s" });
    expect(await verifyIdToken(await sign("a"), options)).toMatchObject({ sub: "s" });
    expect(state.fetches).toBe(2);
  });
});
