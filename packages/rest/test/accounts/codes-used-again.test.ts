import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAttemptLimiter } from "../../src/attempt-limiter.ts";
import {
  emailChanges,
  issueToken,
  passwordResets,
} from "../../src/accounts/mails/mailed-tokens.ts";
import { totpCode, totpStep } from "../../src/accounts/second-factor/totp.ts";
import { openAccounts, password, type Sent, type SignedIn } from "./open-accounts.ts";
import { unbase32 } from "./unbase32.ts";

const link = "http://localhost/page";

/** Where a code of the second factor is taken. After the last one no code is needed. */
const routes = [
  ["POST", "/auth"],
  ["POST", "/auth/cookie"],
  ["PUT", "/users/me/password"],
  ["POST", "/users/me/email"],
  ["DELETE", "/users/me/totp"],
] as const;

/** Who asks a route of {@link routes}. */
function callerOf(path: string, { token }: SignedIn, basic: readonly [string, string]): Sent {
  if (path === "/users/me/totp") return { token };
  return { basic, headers: { "sec-fetch-site": "same-origin" } };
}

/**
 * A user with a second factor, whose last code was that of the step before now; the time stands
 * still.
 */
async function openWithFactor() {
  vi.useFakeTimers({ now: Math.floor(Date.now() / 30_000) * 30_000 + 15_000, toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  const settings = { attempts: createAttemptLimiter({ limit: 10 }) };
  const api = await openAccounts({ signIn: "public", settings });
  const ada = await api.join("ada@example.com");
  const basic = [ada.email, password] as const;
  const { json } = await api.send("POST", "/users/me/totp", { basic });
  const code = (shift: number): string =>
    totpCode(unbase32(json.secret), totpStep(Date.now()) + shift);
  const first = code(-1);
  const confirmed = await api.send("POST", "/users/me/totp", { basic, json: { totp: first } });
  expect(confirmed.status).toBe(200);
  const recoveryCodes: readonly string[] = confirmed.json.recoveryCodes;
  return { api, ada, basic, code, first, recoveryCodes };
}

describe("a code of the second factor", () => {
  it("that switched it on signs nobody in, and none of before a later one does", async () => {
    const { ada, api, code, first } = await openWithFactor();
    expect((await api.signIn(ada.email, { json: { totp: first } })).status).toBe(401);
    expect((await api.signIn(ada.email, { json: { totp: code(1) } })).status).toBe(201);
    expect((await api.signIn(ada.email, { json: { totp: code(0) } })).status).toBe(401);
  });

  it("that signed in is good for nothing else, and the other way round", async () => {
    const { ada, api, basic, code } = await openWithFactor();
    const totp = code(0);
    expect((await api.signIn(ada.email, { json: { totp } })).status).toBe(201);
    for (const [method, path, json] of [
      ["PUT", "/users/me/password", { password: "another one" }],
      ["POST", "/users/me/email", { email: "eve@example.com", link }],
    ] as const) {
      const again = await api.send(method, path, { basic, json: { ...json, totp } });
      expect([path, again.status, again.json.param]).toEqual([path, 401, "totp"]);
    }
    const off = await api.send("DELETE", "/users/me/totp", { token: ada.token, json: { totp } });
    expect(off.status).toBe(401);
    const json = { email: "ada@other.example", link, totp: code(1) };
    expect((await api.send("POST", "/users/me/email", { basic, json })).status).toBe(202);
    expect((await api.signIn(ada.email, { json: { totp: code(1) } })).status).toBe(401);
  });

  it("is taken once of many routes at once", async () => {
    const { ada, api, basic, code } = await openWithFactor();
    const json = { totp: code(0), password: "another one", email: "ada@other.example", link };
    const answers = await Promise.all(
      routes
        .slice(0, -1)
        .map(([method, path]) => api.send(method, path, { ...callerOf(path, ada, basic), json })),
    );
    expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
  });

  it("is not guessed by a hundred guesses at once, wherever they are sent and come from", async () => {
    const { ada, api, basic } = await openWithFactor();
    const guesses = Array.from({ length: 100 }, (_, index) => {
      const [method, path] = routes[index % routes.length] ?? routes[0];
      const number = String(index);
      // Every other one has the form of a recovery code.
      const totp =
        index % 2 === 0 ? number.padStart(6, "0") : `AAAA-BBBB-CCCC-${number.padStart(4, "D")}`;
      const json = { totp, password: "another one", email: "ada@other.example", link };
      const ip = `198.51.${index}.1`;
      return api.send(method, path, { ...callerOf(path, ada, basic), ip, json });
    });
    const answers = await Promise.all(guesses);
    const tried = answers.filter(({ json }) => json?.param === "totp" && json.name === "invalid");
    expect(tried.length).toBeLessThanOrEqual(10);
    for (const { status } of answers) expect([401, 429, 503]).toContain(status);
  });
});

describe("a recovery code", () => {
  it("is taken once of many times at once, and not again after it", async () => {
    const { ada, api, recoveryCodes } = await openWithFactor();
    const [totp = ""] = recoveryCodes;
    const answers = await Promise.all(
      [totp, totp, totp.toLowerCase(), totp.replaceAll("-", " ")].map((one) =>
        api.signIn(ada.email, { json: { totp: one } }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      201, 401, 401, 401,
    ]);
    expect((await api.signIn(ada.email, { json: { totp } })).status).toBe(401);
  });

  it("of a factor that was switched off and on again is none", async () => {
    const { ada, api, basic, code, recoveryCodes } = await openWithFactor();
    const [first = "", second = ""] = recoveryCodes;
    const token = ada.token;
    const off = await api.send("DELETE", "/users/me/totp", { token, json: { totp: first } });
    expect(off.status).toBe(204);
    const { json } = await api.send("POST", "/users/me/totp", { basic });
    const totp = totpCode(unbase32(json.secret), totpStep(Date.now()));
    expect((await api.send("POST", "/users/me/totp", { basic, json: { totp } })).status).toBe(200);
    for (const old of [second, code(1)]) {
      expect((await api.signIn(ada.email, { json: { totp: old } })).status).toBe(401);
    }
  });
});

describe("a mailed token", () => {
  it("is good for its purpose alone, and once", async () => {
    const api = await openAccounts({ signIn: "public" });
    const { email } = await api.join("ada@example.com");
    const basic = [email, password] as const;
    await api.send("POST", "/password-resets", { json: { email, link } });
    const reset = await api.nextMail();
    await api.send("POST", "/users/me/email", { basic, json: { email: "new@example.com", link } });
    const change = await api.nextMail();
    const json = { password: "another one" };
    const use = (path: string) => api.send("PUT", path, { json });
    expect((await use(`/email-changes/${reset.token}`)).status).toBe(404);
    expect((await use(`/password-resets/${change.token}`)).status).toBe(404);
    expect((await use(`/password-resets/${reset.token}`)).status).toBe(200);
    expect((await use(`/password-resets/${reset.token}`)).status).toBe(404);
    // The reset has ended what was wished for with the former password.
    expect((await use(`/email-changes/${change.token}`)).status).toBe(404);
    const me = await api.signIn(email, { basic: [email, json.password] });
    expect([me.status, me.json.user.email]).toEqual([201, email]);
  });

  it("of a password and of an address that are used at once end each other or come in order", async () => {
    const api = await openAccounts({ signIn: "public" });
    for (let round = 0; round < 3; round += 1) {
      const { email, id } = await api.join(`ada${round}@example.com`);
      const stored = await api.store.collection(api.context.user.collection).get(id);
      const found = stored ?? expect.fail();
      const reset = await issueToken(api.context, passwordResets, found);
      const change = await issueToken(api.context, emailChanges, found, `new${round}@example.com`);
      const json = { password: "another one" };
      const [byReset, byChange] = await Promise.all([
        api.send("PUT", `/password-resets/${reset}`, { json }),
        api.send("PUT", `/email-changes/${change}`, { json: {} }),
      ]);
      const won = [byReset.status, byChange.status];
      expect([
        [200, 404],
        [404, 200],
      ]).toContainEqual(won);
      const name = byChange.status === 200 ? `new${round}@example.com` : email;
      const secret = byReset.status === 200 ? json.password : password;
      expect((await api.signIn(name, { basic: [name, secret] })).status).toBe(201);
    }
  });
});
