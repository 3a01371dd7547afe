import { jobCollections } from "@fetchwork/documents/jobs";
import { describe, expect, it } from "vitest";
import { createAccountMails } from "../../src/accounts/mails/account-mails.ts";
import { accountTexts } from "../../src/accounts/mails/mail-texts.ts";
import { passwordResets } from "../../src/accounts/mails/mailed-tokens.ts";
import { masterKey } from "../api-client.ts";
import { openAccounts, type TestAccounts } from "./open-accounts.ts";

/** Mails take a moment, and longer on a busy machine. */
const patiently = { timeout: 10_000 };
const access_token = masterKey;
const email = "ada@example.com";
const link = "https://www.api.example/reset";
const linkOrigins = ["https://www.api.example"];

/** Asks for a reset and reads its token in the mail. */
async function askForToken(api: TestAccounts): Promise<string> {
  const form = { email, link, access_token };
  expect((await api.send("POST", "/password-resets", { form })).status).toBe(202);
  return (await api.nextMail()).token;
}

describe("password resets", () => {
  it("are asked for with the master key alone", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    const admin = await api.join("admin@example.com", "admin");
    const form = { email, link };
    expect((await api.send("POST", "/password-resets", { form })).status).toBe(401);
    const { token } = admin;
    expect((await api.send("POST", "/password-resets", { form, token })).status).toBe(403);
    expect(api.mails).toEqual([]);
  });

  it.each([
    [{ link }, "email"],
    [{ email: "ada", link }, "email"],
    [{ email: "ada@example.com\r\nBcc: eve@example.com", link }, "email"],
    [{ email, link: "" }, "link"],
    [{ email }, "link"],
    [{ email, link: "https://evil.example/reset" }, "link"],
    [{ email, link: "https://www.api.example.evil.example/reset" }, "link"],
    [{ email, link: "https://www.api.example@evil.example/reset" }, "link"],
    [{ email, link: "https://ada:pw@www.api.example/reset" }, "link"],
    [{ email, link: "http://www.api.example/reset" }, "link"],
    [{ email, link: "https://www.api.example:8443/reset" }, "link"],
    [{ email, link: "//www.api.example/reset" }, "link"],
    [{ email, link: "javascript:alert(1)//https://www.api.example" }, "link"],
    [{ email, link: "https://www.api.example/?next=https://evil.example" }, "link"],
    [{ email, link: `${link}?` }, "link"],
    [{ email, link: `${link}#/page?token=` }, "link"],
    [{ email, link: `${link}/${"x".repeat(500)}` }, "link"],
  ])("are refused for %j", async (json, param) => {
    const api = await openAccounts({ settings: { linkOrigins } });
    await api.join(email);
    const refused = await api.send("POST", "/password-resets", { json: { ...json, access_token } });
    expect(refused.json).toMatchObject({ status: 400, valid: false, param });
    expect(api.mails).toEqual([]);
  });

  it("send a mail with the link and a token, to the address alone", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    await api.join(email);
    const form = { email: " ADA@example.com", link: `${link}//`, access_token };
    const asked = await api.send("POST", "/password-resets", { form });
    expect([asked.status, asked.json]).toEqual([202, undefined]);
    const { token, ...mail } = await api.nextMail();
    expect(mail).toMatchObject({ to: email, subject: "Test - Password reset" });
    expect(token).toHaveLength(43);
    expect(mail.html).toContain(`<a href="${link}/${token}">`);
  });

  it("answer the same for an address that nobody has, and send nothing", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    await api.join(email);
    const ask = async (address: string): Promise<unknown> => {
      const form = { email: address, link, access_token };
      const { status, json, headers } = await api.send("POST", "/password-resets", { form });
      const names = [...headers.keys()].filter((name) => name !== "server-timing");
      return { status, json, names };
    };
    expect(await ask("eve@example.com")).toEqual(await ask(email));
    expect((await api.nextMail()).to).toBe(email);
    expect(api.mails).toHaveLength(1);
  });

  it("show what names say as text", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    const name = `<a href="https://evil.example">A&B'</a>\r\nBcc: eve@example.com\u202e`;
    const json = { email, password: "123456", name, access_token };
    expect((await api.send("POST", "/users", { json })).status).toBe(201);
    await api.send("POST", "/password-resets", { form: { email, link, access_token } });
    const { html, text, to } = await api.nextMail();
    expect(html).toContain(
      "Hello &#60;a href=&#34;https://evil.example&#34;&#62;A&#38;B&#39;&#60;/a&#62;",
    );
    expect(html.match(/<a /g)).toHaveLength(1);
    expect(text).toMatch(
      /^Hello <a href="https:\/\/evil\.example">A&B'<\/a> Bcc: eve@example\.com,\r?\n/,
    );
    expect(text).not.toMatch(/^Bcc:/m);
    expect(to).toBe(email);
  });

  it("show the holder of a token whose password it sets, and no more", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    const { id } = await api.join(email);
    const token = await askForToken(api);
    const { status, json, headers } = await api.send("GET", `/password-resets/${token}`);
    expect(status).toBe(200);
    expect(json).toEqual({ user: { id, name: "ada", picture: expect.any(String), email }, token });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("set the password once, and end all sessions and other resets", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    const ada = await api.join(email);
    const other = await askForToken(api);
    const path = `/password-resets/${await askForToken(api)}`;
    const form = { password: "654321" };

    const refused = await api.send("PUT", path, { form: { password: "1" } });
    expect(refused.json).toMatchObject({ status: 400, param: "password", name: "minlength" });
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(200);

    const changed = await api.send("PUT", path, { form });
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({ id: ada.id, email, role: "user" });
    expect((await api.send("GET", "/users/me", { token: ada.token })).status).toBe(401);
    for (const used of [path, `/password-resets/${other}`]) {
      expect((await api.send("PUT", used, { form: { password: "abcdef" } })).status).toBe(404);
      expect((await api.send("GET", used)).status).toBe(404);
    }
    const signIn = (password: string) =>
      api.send("POST", "/auth", { basic: [email, password], form: { access_token } });
    expect((await signIn("123456")).status).toBe(401);
    expect((await signIn("abcdef")).status).toBe(401);
    expect((await signIn("654321")).status).toBe(201);
  });

  it("let one of many win who use a token at the same time", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    await api.join(email);
    const path = `/password-resets/${await askForToken(api)}`;
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        api.send("PUT", path, { form: { password: `password ${index}` } }),
      ),
    );
    const statuses = all.map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 7 }, () => 404),
    ]);
    const basic = [email, `password ${statuses.indexOf(200)}`] as const;
    const signedIn = await api.send("POST", "/auth", { basic, form: { access_token } });
    expect(signedIn.status).toBe(201);
  });

  it("end when the user changes the password, and when the user is removed", async () => {
    const api = await openAccounts({ settings: { linkOrigins } });
    const { id } = await api.join(email);
    const admin = await api.join("admin@example.com", "admin");
    const first = await askForToken(api);
    const form = { password: "abcdef" };
    await api.send("PUT", "/users/me/password", { form, basic: [email, "123456"] });
    expect((await api.send("GET", `/password-resets/${first}`)).status).toBe(404);
    const second = await askForToken(api);
    await api.send("DELETE", `/users/${id}`, { token: admin.token });
    expect((await api.send("GET", `/password-resets/${second}`)).status).toBe(404);
    expect((await api.send("PUT", `/password-resets/${second}`, { form })).status).toBe(404);
  });

  it("cannot be asked for where no mails are sent", async () => {
    const api = await openAccounts({ hasMails: false });
    const json = { email, link, access_token };
    expect((await api.send("POST", "/password-resets", { json })).status).toBe(503);
    const wrong = { ...json, access_token: "x".repeat(32) };
    expect((await api.send("POST", "/password-resets", { json: wrong })).status).toBe(401);
  });
});

describe("the queue of mails", () => {
  it("looks for the user once the answer has gone out, so its time tells nothing", async () => {
    const { create, nextMail, send, store } = await openAccounts();
    await create(email);
    const kept = store.collection(passwordResets.collection);
    const form = { email, link, access_token };
    expect((await send("POST", "/password-resets", { form })).status).toBe(202);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await kept.count()).toBe(0);
    expect((await nextMail()).token).toHaveLength(43);
    expect(await kept.count()).toBe(1);
  });

  it("outlives the process, and nothing of a mail stays when it is sent", async () => {
    const { context, mails, store } = await openAccounts();
    const options = { store, user: context.user, texts: accountTexts, title: "T" };
    const failed = { send: () => Promise.reject(new Error("no server")) };
    const dead = createAccountMails({ ...options, mailer: failed, report: () => undefined });
    await dead.queue({ kind: "email-changed", email, name: "Ada" });
    await dead.stop();
    expect(await store.collection(jobCollections.jobs).count()).toBe(1);
    context.mails?.start();
    await expect.poll(() => mails.length, patiently).toBe(1);
    await expect.poll(() => store.collection(jobCollections.jobs).count(), patiently).toBe(0);
  });

  it("takes no more while 20 wait, and tries each again until it is refused for good", async () => {
    let attempts = 0;
    const failures: unknown[] = [];
    const mailer = {
      async send(): Promise<void> {
        attempts += 1;
        throw Object.assign(new Error("a mail was not sent"), { isTemporary: attempts === 1 });
      },
    };
    const report = (error: unknown): void => void failures.push(error);
    const { context, create, send } = await openAccounts({ settings: { mailer, report } });
    await create(email);
    await context.mails?.queue({ kind: "password-reset", email, link });
    await expect.poll(() => failures.length, patiently).toBe(1);
    expect(attempts).toBe(2);
    for (let count = 0; count < 20; count += 1) {
      await context.mails?.queue({ kind: "password-reset", email: "eve@x.example", link });
    }
    const form = { email, link, access_token };
    const refused = await send("POST", "/password-resets", { form });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
  });
});
