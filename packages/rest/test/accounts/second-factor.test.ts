import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { base32, secondFactorCollection } from "../../src/accounts/second-factor/second-factors.ts";
import { stepOfCode, totpCode, totpStep } from "../../src/accounts/second-factor/totp.ts";
import { openAccounts, password } from "./open-accounts.ts";
import { unbase32 } from "./unbase32.ts";

/** RFC 6238, appendix B, of which six digits are the last of eight. */
const vectors = [
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
] as const;

describe("codes by time", () => {
  const secret = Buffer.from("12345678901234567890");

  it.each(vectors)("at %d seconds is %s, as in RFC 6238", (seconds, code) => {
    expect(totpCode(secret, totpStep(seconds * 1_000))).toBe(code);
  });

  it("are taken one step before and after, and no further", () => {
    const now = 1_234_567_890_000;
    const taken = [-2, -1, 0, 1, 2].map(
      (shift) => stepOfCode(secret, totpCode(secret, totpStep(now) + shift), now) !== undefined,
    );
    expect(taken).toEqual([false, true, true, true, false]);
    expect(stepOfCode(secret, "", now)).toBe(undefined);
  });

  it("have secrets in base32 that read back", () => {
    expect(base32(Buffer.from("foobar"))).toBe("MZXW6YTBOI");
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        expect([...unbase32(base32(bytes))]).toEqual([...bytes]);
      }),
    );
  });
});

/** Keeps the time in the middle of a step, so that no code grows old in a test. */
function stopTime(): void {
  vi.useFakeTimers({ now: Math.floor(Date.now() / 30_000) * 30_000 + 15_000, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
}

async function withSecondFactor() {
  stopTime();
  const opened = await openAccounts();
  const ada = await opened.join("ada@example.com");
  const basic = [ada.email, password] as const;
  const begun = await opened.send("POST", "/users/me/totp", { basic });
  expect(begun.status).toBe(201);
  const secret = unbase32(begun.json.secret);
  let shift = -1;
  /** A code that was not used yet: of the steps around now there are three. */
  const code = (): string => totpCode(secret, totpStep(Date.now()) + (shift += 1) - 1);
  const confirmed = await opened.send("POST", "/users/me/totp", { basic, json: { totp: code() } });
  expect(confirmed.status).toBe(200);
  const recoveryCodes: readonly string[] = confirmed.json.recoveryCodes;
  return { ...opened, ada, basic, code, recoveryCodes, secret, begun };
}

describe("a second factor", () => {
  it("is asked for by a 401 that names the field, and signs in with a code", async () => {
    const { code, signIn } = await withSecondFactor();
    const asked = await signIn("ada@example.com");
    expect(asked.status).toBe(401);
    expect(asked.json).toMatchObject({ param: "totp", name: "required" });
    expect(asked.headers.get("www-authenticate")).toMatch(/^Basic/);
    const wrong = await signIn("ada@example.com", { form: { totp: "000000" } });
    expect([wrong.status, wrong.json.param, wrong.json.name]).toEqual([401, "totp", "invalid"]);
    expect((await signIn("ada@example.com", { form: { totp: code() } })).status).toBe(201);
    expect((await signIn("ada@example.com", { json: { totp: code() } })).status).toBe(201);
  });

  it("tells nobody who has not the password that there is one", async () => {
    const { signIn } = await withSecondFactor();
    const wrong = await signIn("ada@example.com", { basic: ["ada@example.com", "wrong!"] });
    const unknown = await signIn("eve@example.com", { basic: ["eve@example.com", "wrong!"] });
    expect(wrong.json).toEqual(unknown.json);
  });

  it("takes no code twice, of any number at once", async () => {
    const { code, signIn } = await withSecondFactor();
    const totp = code();
    const all = await Promise.all(
      Array.from({ length: 5 }, () => signIn("ada@example.com", { json: { totp } })),
    );
    expect(all.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
  });

  it("takes each of ten recovery codes once, however it is typed", async () => {
    const { recoveryCodes, signIn } = await withSecondFactor();
    expect(recoveryCodes).toHaveLength(10);
    const [first = "", second = ""] = recoveryCodes;
    expect(first).toMatch(/^(?:[A-Z2-7]{4}-){3}[A-Z2-7]{4}$/);
    const use = (totp: string) => signIn("ada@example.com", { json: { totp } });
    expect((await use(first)).status).toBe(201);
    expect((await use(first)).status).toBe(401);
    expect((await use(second.toLowerCase().replaceAll("-", " "))).status).toBe(201);
  });

  it("is guessed at a few times only, also by somebody with the password", async () => {
    const { code, signIn } = await withSecondFactor();
    const statuses: number[] = [];
    for (let count = 0; count < 25; count += 1) {
      statuses.push((await signIn("ada@example.com", { json: { totp: "123" } })).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(20);
    expect(statuses.at(-1)).toBe(429);
    const late = await signIn("ada@example.com", { json: { totp: code() }, ip: "198.51.100.1" });
    expect(late.status).toBe(429);
  });

  it("is asked for where the password alone would do", async () => {
    const { basic, code, send } = await withSecondFactor();
    const json = { password: "another one" };
    const refused = await send("PUT", "/users/me/password", { basic, json });
    expect([refused.status, refused.json.param]).toEqual([401, "totp"]);
    const link = "http://localhost/confirm";
    const email = await send("POST", "/users/me/email", {
      basic,
      json: { email: "a@b.example", link },
    });
    expect([email.status, email.json.param]).toEqual([401, "totp"]);
    const page = { "sec-fetch-site": "same-origin" };
    const cookie = await send("POST", "/auth/cookie", { basic, headers: page });
    expect([401, 403]).toContain(cookie.status);
    const changed = await send("PUT", "/users/me/password", {
      basic,
      json: { ...json, totp: code() },
    });
    expect(changed.status).toBe(200);
  });

  it("is switched off by a code of it, or by an admin", async () => {
    const { ada, code, join, send, signIn } = await withSecondFactor();
    const bob = await join("bob@example.com");
    const path = `/users/${ada.id}/totp`;
    expect((await send("DELETE", path)).status).toBe(401);
    expect((await send("DELETE", path, { token: bob.token })).status).toBe(403);
    expect((await send("DELETE", path, { token: ada.token })).json.param).toBe("totp");
    const wrong = await send("DELETE", path, { token: ada.token, json: { totp: "000000" } });
    expect(wrong.status).toBe(401);
    const off = await send("DELETE", path, { token: ada.token, json: { totp: code() } });
    expect(off.status).toBe(204);
    expect((await signIn("ada@example.com")).status).toBe(201);
    const other = await withSecondFactor();
    const root = await other.join("root@example.com", "admin");
    const lost = `/users/${other.ada.id}/totp`;
    expect((await other.send("DELETE", lost, { token: root.token })).status).toBe(204);
    expect((await other.send("DELETE", lost, { token: root.token })).status).toBe(404);
    expect((await other.signIn("ada@example.com")).status).toBe(201);
  });

  it("is not asked for before the first code, and not begun again after it", async () => {
    stopTime();
    const { join, send, signIn } = await openAccounts();
    const { email } = await join("ada@example.com");
    const basic = [email, password] as const;
    const first = await send("POST", "/users/me/totp", { basic });
    expect((await signIn(email)).status).toBe(201);
    const second = await send("POST", "/users/me/totp", { basic });
    expect(second.json.secret).not.toBe(first.json.secret);
    const old = totpCode(unbase32(first.json.secret), totpStep(Date.now()));
    const wrong = await send("POST", "/users/me/totp", { basic, json: { totp: old } });
    expect([wrong.status, wrong.json.param]).toEqual([401, "totp"]);
    const totp = totpCode(unbase32(second.json.secret), totpStep(Date.now()));
    expect((await send("POST", "/users/me/totp", { basic, json: { totp } })).status).toBe(200);
    expect((await send("POST", "/users/me/totp", { basic })).status).toBe(409);
  });

  it("is nobody's but the user's to switch on, with the password", async () => {
    const { join, send } = await openAccounts();
    const ada = await join("ada@example.com");
    const root = await join("root@example.com", "admin");
    const path = `/users/${ada.id}/totp`;
    expect((await send("POST", path, { token: ada.token })).status).toBe(401);
    const foreign = await send("POST", path, { basic: [root.email, password] });
    expect(foreign.status).toBe(403);
  });

  it("has an address for authenticators, and a secret that the store does not tell", async () => {
    const { begun, secret, store } = await withSecondFactor();
    const uri = new URL(begun.json.uri);
    expect(uri.protocol + uri.host + uri.pathname).toBe("otpauth:totp/Test:ada%40example.com");
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      secret: begun.json.secret,
      issuer: "Test",
      algorithm: "SHA1",
      digits: "6",
      period: "30",
    });
    const [stored] = await store.collection(secondFactorCollection).find({});
    const text = JSON.stringify(stored);
    for (const form of ["hex", "base64", "base64url"] as const) {
      expect(text).not.toContain(secret.toString(form));
    }
    expect(text).not.toContain(begun.json.secret);
  });

  it("holds over a day", async () => {
    const { secret, signIn } = await withSecondFactor();
    vi.setSystemTime(Date.now() + 86_400_000);
    const totp = totpCode(secret, totpStep(Date.now()));
    expect((await signIn("ada@example.com", { json: { totp } })).status).toBe(201);
  });
});
