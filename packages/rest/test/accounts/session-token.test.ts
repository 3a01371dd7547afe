import { createHmac, generateKeyPairSync } from "node:crypto";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createSessionTokens } from "../../src/session-tokens.ts";
import { RestError } from "../../src/errors.ts";

const secret = "0123456789abcdef0123456789abcdef";
const account = { id: "u1", role: "user", passwordHash: "", sessionVersion: 7 };
const tokens = createSessionTokens({ secret, lifetime: 60 });
const key = new TextEncoder().encode(secret);

afterEach(() => void vi.useRealTimers());

function signed(claims: Record<string, unknown>, alg = "HS256"): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg }).sign(key);
}

const now = Math.floor(Date.now() / 1000);
const good = { sub: "u1", sv: 7, iat: now, exp: now + 60 };

describe("createSessionTokens", () => {
  it("refuses a secret that is too short and a lifetime that is none", () => {
    expect(() => createSessionTokens({ secret: "x".repeat(31) })).toThrow(RestError);
    for (const lifetime of [0, -1, 1.5, Number.NaN]) {
      expect(() => createSessionTokens({ secret, lifetime })).toThrow(RestError);
    }
  });

  it("refuses a token without signature", async () => {
    const unsigned = new UnsecuredJWT(good).encode();
    expect(await tokens.verify(unsigned)).toBeUndefined();
    const [, payload] = (await tokens.issue(account)).split(".");
    const header = Buffer.from('{"alg":"none"}').toString("base64url");
    expect(await tokens.verify(`${header}.${payload}.`)).toBeUndefined();
  });

  it("refuses a token that was signed with another secret", async () => {
    const others = createSessionTokens({ secret: "f".repeat(32) });
    expect(await tokens.verify(await others.issue(account))).toBeUndefined();
  });

  it("refuses HS384 and HS512 with the right secret", async () => {
    expect(await tokens.verify(await signed(good, "HS384"))).toBeUndefined();
    expect(await tokens.verify(await signed(good, "HS512"))).toBeUndefined();
  });

  it("refuses RS256, and RS256 that is signed with the secret as HMAC key", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const rsa = await new SignJWT(good).setProtectedHeader({ alg: "RS256" }).sign(privateKey);
    expect(await tokens.verify(rsa)).toBeUndefined();

    const head = Buffer.from('{"alg":"RS256","typ":"JWT"}').toString("base64url");
    const body = Buffer.from(JSON.stringify(good)).toString("base64url");
    const mac = createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url");
    expect(await tokens.verify(`${head}.${body}.${mac}`)).toBeUndefined();
  });

  it.each(["sub", "sv", "iat", "exp"])("refuses a token without %s", async (claim) => {
    expect(await tokens.verify(await signed({ ...good, [claim]: undefined }))).toBeUndefined();
  });

  it.each([
    { ...good, sv: "7" },
    { ...good, sub: 1 },
    { ...good, exp: "soon" },
    { ...good, nbf: now + 100 },
  ])("refuses the claims %j", async (claims) => {
    expect(await tokens.verify(await signed(claims))).toBeUndefined();
  });

  it("refuses a token whose time is over", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const [token, seenBefore] = [await tokens.issue(account), await tokens.issue(account)];
    expect(await tokens.verify(seenBefore)).toBeDefined();
    vi.setSystemTime(Date.now() + 61_000);
    expect(await tokens.verify(token)).toBeUndefined();
    expect(await tokens.verify(seenBefore)).toBeUndefined();
  });

  it.each(["", "a", "a.b.c", "....", `${"a".repeat(3_000)}.b.c`, "ey\0.a.b"])(
    "refuses what is not a token at all: %j",
    async (token) => {
      expect(await tokens.verify(token)).toBeUndefined();
    },
  );

  it("refuses a token with any character of it changed", async () => {
    const token = await tokens.issue(account);
    const last = token.slice(0, -1) + (token.endsWith("A") ? "Q" : "A");
    const first = token.replace(".", ".A");
    for (const changed of [last, first]) expect(await tokens.verify(changed)).toBeUndefined();
  });

  it("accepts its own, with what the claims say", async () => {
    const claims = await tokens.verify(await tokens.issue(account));
    expect(claims).toMatchObject({ sub: "u1", sv: 7 });
    expect((claims?.exp ?? 0) - now).toBeGreaterThanOrEqual(60);
  });

  it("accepts more tokens than it remembers", async () => {
    const issued = await Promise.all(Array.from({ length: 1_100 }, () => tokens.issue(account)));
    for (const token of issued) expect(await tokens.verify(token)).toMatchObject({ sub: "u1" });
    expect(await tokens.verify(issued[0] ?? "")).toMatchObject({ sub: "u1" });
  });

  it("makes a separate identifier for every token", async () => {
    expect(await tokens.issue(account)).not.toBe(await tokens.issue(account));
  });
});
