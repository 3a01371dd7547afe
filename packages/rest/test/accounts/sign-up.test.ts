import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { createAttemptLimiter } from "../../src/attempt-limiter.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, password, type Sent, type TestOptions } from "./open-accounts.ts";

const link = "https://app.example/confirm";
const isOpen: TestOptions = { signUp: "public", signIn: "public" };

describe.each(["master", "public"] as const)("with sign-up and sign-in open to %s", (open) => {
  it("the calls with the master key create a user and sign it in", async () => {
    const { send } = await openAccounts({ signUp: open, signIn: open });
    const access_token = masterKey;
    const form = { email: "ada@example.com", password, role: "admin", access_token };
    const created = await send("POST", "/users", { form });
    expect([created.status, created.json.role]).toEqual([201, "admin"]);
    const basic = ["ada@example.com", password] as const;
    const session = await send("POST", "/auth", { basic, form: { access_token } });
    expect(session.status).toBe(201);
    expect(session.json).toMatchObject({ token: expect.any(String), user: created.json });
  });

  it("a server with the master key signs many users in at once from its one address", async () => {
    const settings = { attempts: createAttemptLimiter() };
    const { create, send } = await openAccounts({ signUp: open, signIn: open, settings });
    await create("ada@example.com");
    const basic = ["ada@example.com", password] as const;
    const sent: Sent = { basic, form: { access_token: masterKey }, ip: "192.0.2.1" };
    const all = await Promise.all(Array.from({ length: 8 }, () => send("POST", "/auth", sent)));
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201]));
  });
});

describe("a sign-up that is open to everyone, without mails", () => {
  const options = { ...isOpen, hasMails: false };
  const form = { email: "ada@example.com", password };

  it("makes users, shows each one itself, and lets it sign in", async () => {
    const { send, signIn } = await openAccounts(options);
    const { json, status } = await send("POST", "/users", { form });
    expect(status).toBe(201);
    expect(json).toMatchObject({ email: "ada@example.com", role: "user", emailVerified: false });
    expect((await signIn("ada@example.com")).status).toBe(201);
  });

  it("makes no admins", async () => {
    const { send, store, context } = await openAccounts(options);
    const json = { ...form, role: "admin" };
    expect((await send("POST", "/users", { json })).status).toBe(403);
    const byWrongKey = await send("POST", "/users", { json, token: "x".repeat(32) });
    expect(byWrongKey.status).toBe(403);
    expect(await store.collection(context.user.collection).count()).toBe(0);
  });

  it("lets the master key and admins make admins, whose address counts as confirmed", async () => {
    const { join, send } = await openAccounts(options);
    const root = await join("root@example.com", "admin");
    for (const [index, token] of [masterKey, root.token].entries()) {
      const json = { email: `a${index}@example.com`, password, role: "admin" };
      const made = await send("POST", "/users", { json, token });
      expect([made.status, made.json.role]).toEqual([201, "admin"]);
      expect(made.json).not.toHaveProperty("emailVerified");
    }
  });

  it("is limited for each network, and not for the master key", async () => {
    const signUpLimiter = createAttemptLimiter({ limit: 3 });
    const { send } = await openAccounts({ ...options, settings: { signUpLimiter } });
    let count = 0;
    const signUp = (sent: Sent) =>
      send("POST", "/users", {
        form: { email: `u${(count += 1)}@example.com`, password },
        ...sent,
      });
    for (let index = 0; index < 3; index += 1) {
      expect((await signUp({ ip: `2001:db8::${index}` })).status).toBe(201);
    }
    const refused = await signUp({ ip: "2001:db8::f" });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await signUp({ ip: "2001:db8:0:1::1" })).status).toBe(201);
    expect((await signUp({ ip: "2001:db8::1", token: masterKey })).status).toBe(201);
  });
});

describe("sign-ups of a class room behind one address", () => {
  it("are taken a hundred times, whatever the limit of wrong passwords is", async () => {
    const attempts = createAttemptLimiter({ limit: 3 });
    const { context, send } = await openAccounts({
      ...isOpen,
      hasMails: false,
      settings: { attempts },
    });
    const signUp = (index: number) =>
      send("POST", "/users", { form: { email: `u${index}@example.com`, password } });
    for (let index = 0; index < 12; index += 1) expect((await signUp(index)).status).toBe(201);
    for (let index = 12; index < 100; index += 1) {
      const attempt = await context.signUpLimiter.begin({ account: "Sign-up from 192.0.2.1" });
      await attempt.end("failure");
    }
    const refused = await signUp(100);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(10);
  });
});

describe("a sign-up that is open to everyone, with mails", () => {
  const json = { email: "ada@example.com", password, link };

  it("is good for a sign-in once the address is confirmed", async () => {
    const { nextMail, send, signIn } = await openAccounts(isOpen);
    const asked = await send("POST", "/users", { json });
    expect([asked.status, asked.json]).toEqual([202, undefined]);
    const early = await signIn("ada@example.com");
    expect(early.status).toBe(401);
    const wrong = await signIn("ada@example.com", { basic: ["ada@example.com", "wrong!"] });
    expect(early.json).toEqual(wrong.json);
    const { token, to } = await nextMail();
    expect(to).toBe("ada@example.com");
    for (const wrong of [{}, { password: "of somebody else" }]) {
      const refused = await send("PUT", `/email-changes/${token}`, { json: wrong });
      expect([refused.status, refused.json.param]).toEqual([400, "password"]);
    }
    const confirmed = await send("PUT", `/email-changes/${token}`, { json: { password } });
    expect(confirmed.status).toBe(200);
    expect(confirmed.json).not.toHaveProperty("emailVerified");
    expect((await signIn("ada@example.com")).status).toBe(201);
  });

  it("is not confirmed by someone who reads the mail and guesses the password", async () => {
    const settings = { attempts: createAttemptLimiter({ limit: 10 }) };
    const { nextMail, send } = await openAccounts({ ...isOpen, settings });
    await send("POST", "/users", { json });
    const { token } = await nextMail();
    const guesses = Array.from({ length: 100 }, (_, index) =>
      send("PUT", `/email-changes/${token}`, {
        json: { password: `guess ${index}` },
        ip: `198.51.${index}.1`,
      }),
    );
    const answers = await Promise.all(guesses);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(90);
  });

  it("answers the same for an address that is known, whose owner learns of it", async () => {
    const { create, nextMail, send, signIn } = await openAccounts(isOpen);
    await create("bob@example.com");
    const known = await send("POST", "/users", { json: { ...json, email: "bob@example.com" } });
    const free = await send("POST", "/users", { json });
    const shape = ({ headers, json: body, status }: typeof known) => [
      status,
      body,
      [...headers.keys()],
    ];
    expect(shape(known)).toEqual(shape(free));
    const mails = [await nextMail(), await nextMail()];
    const told = mails.find(({ to }) => to === "bob@example.com");
    expect(told?.subject).toBe("Test - You have an account already");
    expect(told?.token).toBe("");
    expect((await signIn("bob@example.com")).status).toBe(201);
  });

  it("of an address that nobody has confirmed takes the place of the one before", async () => {
    const { nextMail, send, signIn } = await openAccounts(isOpen);
    const thief = "of somebody else";
    await send("POST", "/users", { json: { ...json, password: thief } });
    const first = await nextMail();
    await send("POST", "/users", { json });
    const second = await nextMail();
    const confirm = (token: string, sent: string) =>
      send("PUT", `/email-changes/${token}`, { json: { password: sent } });
    expect((await confirm(first.token, password)).status).toBe(404);
    expect((await confirm(second.token, password)).status).toBe(200);
    expect((await signIn("ada@example.com")).status).toBe(201);
    const basic = ["ada@example.com", thief] as const;
    expect((await signIn("ada@example.com", { basic })).status).toBe(401);
  });

  it("has what the hook of a creation sets, also in the place of the one before", async () => {
    const user = defineUser({
      schema: z.object({ waits: z.boolean().default(false) }),
      fields: { waits: "nobody" },
      hooks: { beforeCreate: ({ fields }) => ({ ...fields, waits: true }) },
    });
    const { send, store } = await openAccounts({ ...isOpen, user });
    for (const version of [1, 2]) {
      await send("POST", "/users", { json });
      const [found] = await store.collection(user.collection).find();
      expect(found).toMatchObject({ version, waits: true, unconfirmed: true });
    }
  });

  it("is not confirmed by the owner of the address for somebody else who signed up last", async () => {
    const { nextMail, send, signIn } = await openAccounts(isOpen);
    const thief = "of somebody else";
    await send("POST", "/users", { json });
    await nextMail();
    await send("POST", "/users", { json: { ...json, password: thief } });
    const { token } = await nextMail();
    const refused = await send("PUT", `/email-changes/${token}`, { json: { password } });
    expect([refused.status, refused.json.param]).toEqual([400, "password"]);
    const basic = ["ada@example.com", thief] as const;
    expect((await signIn("ada@example.com", { basic })).status).toBe(401);
  });

  it("returns nothing to do with its password until it is confirmed", async () => {
    const { send } = await openAccounts(isOpen);
    await send("POST", "/users", { json });
    const basic = ["ada@example.com", password] as const;
    const email = { email: "thief@example.com", link };
    expect((await send("POST", "/users/me/email", { basic, json: email })).status).toBe(401);
    expect((await send("POST", "/users/me/totp", { basic, json: {} })).status).toBe(401);
    const other = { password: "another one" };
    expect((await send("PUT", "/users/me/password", { basic, json: other })).status).toBe(401);
  });

  it("mails an address five times, no matter who asks", async () => {
    const { mails, send } = await openAccounts(isOpen);
    const ask = async (index: number) =>
      (await send("POST", "/users", { json, ip: `192.0.2.${index}` })).status;
    for (let index = 1; index <= 5; index += 1) expect(await ask(index)).toBe(202);
    expect(await ask(6)).toBe(429);
    await expect.poll(() => mails.length).toBe(5);
  });

  it("needs a link to a page that confirms the address", async () => {
    const linkOrigins = ["https://app.example"];
    const { send } = await openAccounts({ ...isOpen, settings: { linkOrigins } });
    const { link: _, ...without } = json;
    const missing = await send("POST", "/users", { json: without });
    expect([missing.status, missing.json.param, missing.json.name]).toEqual([
      400,
      "link",
      "required",
    ]);
    const foreign = { ...json, link: "https://evil.example/confirm" };
    expect((await send("POST", "/users", { json: foreign })).json.param).toBe("link");
  });

  it("is described in the OpenAPI document", async () => {
    const { openApi } = await openAccounts(isOpen);
    expect(openApi.paths["/users"]?.["post"]).toMatchObject({
      responses: { 201: {}, 202: {}, 403: {}, 429: {} },
    });
  });
});
