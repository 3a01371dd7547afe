import { openStore } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import { createContext, finishContext } from "@fetchwork/http";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  jwtSecret,
  masterKey,
  openApi,
  transports,
  type TestApi,
} from "../../../test/api-client.ts";
import { openMailServer, type MailServer, type TakenMail } from "../../../test/mail-server.ts";
import { createApp } from "../../app.ts";
import type { MailSettings } from "../../services/mail-settings.ts";
import { createMailer } from "../../services/mailer.ts";
import { user } from "../user/model.ts";
import { resets } from "./model.ts";
import { createResetMails } from "./reset-mails.ts";

/** Mails take a moment, and longer on a busy machine. */
const patiently = { timeout: 10_000 };
const access_token = masterKey;
const email = "ada@example.com";
const link = "https://www.api.example/reset";
const linkOrigins = ["https://www.api.example"];

function settingsFor({ port }: Pick<MailServer, "port">): MailSettings {
  const smtp = { host: "127.0.0.1", port, isSecure: false, requiresTls: false };
  return { smtp, from: "no-reply@api.example", linkOrigins };
}

function tokenIn({ text }: TakenMail): string {
  return /\/reset\/([\w-]{43})\s/.exec(text)?.[1] ?? "";
}

/** Asks for a reset and reads its token in the mail. */
async function askForToken(api: TestApi, mails: MailServer): Promise<string> {
  const form = { email, link, access_token };
  expect((await api.send("POST", "/password-resets", { form })).status).toBe(202);
  return tokenIn(await mails.next());
}

describe.each(transports)("password resets (%s)", (transport) => {
  it("are asked for with the master key alone", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    const admin = await api.join("admin@example.com", "admin");
    const form = { email, link };
    expect((await api.send("POST", "/password-resets", { form })).status).toBe(401);
    const { token } = admin;
    expect((await api.send("POST", "/password-resets", { form, token })).status).toBe(403);
    expect(mails.taken).toEqual([]);
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
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    await api.join(email);
    const refused = await api.send("POST", "/password-resets", { json: { ...json, access_token } });
    expect(refused.json).toMatchObject({ status: 400, valid: false, param });
    expect(mails.taken).toEqual([]);
  });

  it("send a mail with the link and a token, to the address alone", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    await api.join(email);
    const form = { email: " ADA@example.com", link: `${link}//`, access_token };
    const asked = await api.send("POST", "/password-resets", { form });
    expect([asked.status, asked.json]).toEqual([202, undefined]);
    const mail = await mails.next();
    expect(mail.to).toEqual([email]);
    expect(mail.raw).toMatch(/^From: no-reply@api\.example\r$/m);
    const token = tokenIn(mail);
    expect(token).toHaveLength(43);
    expect(mail.html).toContain(`<a href="${link}/${token}">`);
  });

  it("answer the same for an address that nobody has, and send nothing", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    await api.join(email);
    const ask = async (address: string): Promise<unknown> => {
      const form = { email: address, link, access_token };
      const { status, json, headers } = await api.send("POST", "/password-resets", { form });
      const names = [...headers.keys()].filter((name) => name !== "server-timing");
      return { status, json, names };
    };
    expect(await ask("eve@example.com")).toEqual(await ask(email));
    expect((await mails.next()).to).toEqual([email]);
    expect(mails.taken).toHaveLength(1);
  });

  it("answer before the server of mails does", async () => {
    const waiting: (() => void)[] = [];
    const mails = await openMailServer({
      onConnect: (_session, done) => void waiting.push(() => done()),
    });
    const api = await openApi(transport, { mail: settingsFor(mails) });
    await api.join(email);
    const form = { email, link, access_token };
    expect((await api.send("POST", "/password-resets", { form })).status).toBe(202);
    expect(mails.taken).toEqual([]);
    await expect.poll(() => waiting.length, patiently).toBe(1);
    for (const greet of waiting) greet();
    expect(tokenIn(await mails.next())).toHaveLength(43);
  });

  it("show what names say as text", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    const name = `<a href="https://evil.example">A&B'</a>\r\nBcc: eve@example.com\u202e`;
    const json = { email, password: "123456", name, access_token };
    expect((await api.send("POST", "/users", { json })).status).toBe(201);
    await api.send("POST", "/password-resets", { form: { email, link, access_token } });
    const { html, text, raw, to } = await mails.next();
    expect(html).toContain(
      "Hello &lt;a href=&quot;https://evil.example&quot;&gt;A&amp;B&#39;&lt;/a&gt;",
    );
    expect(html.match(/<a /g)).toHaveLength(1);
    expect(text).toMatch(
      /^Hello <a href="https:\/\/evil\.example">A&B'<\/a> Bcc: eve@example\.com,\r?\n/,
    );
    expect(raw).not.toMatch(/^Bcc:/m);
    expect(to).toEqual([email]);
  });

  it("show the holder of a token whose password it sets, and no more", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    const { id } = await api.join(email);
    const token = await askForToken(api, mails);
    const { status, json, headers } = await api.send("GET", `/password-resets/${token}`);
    expect(status).toBe(200);
    expect(json).toEqual({ user: { id, name: "ada", picture: expect.any(String), email } });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  it("set the password once, and end all sessions and other resets", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    const ada = await api.join(email);
    const other = await askForToken(api, mails);
    const path = `/password-resets/${await askForToken(api, mails)}`;
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
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    await api.join(email);
    const path = `/password-resets/${await askForToken(api, mails)}`;
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

  it("end with the password that the user changed meanwhile, and with the user", async () => {
    const mails = await openMailServer();
    const api = await openApi(transport, { mail: settingsFor(mails) });
    const { id } = await api.join(email);
    const admin = await api.join("admin@example.com", "admin");
    const first = await askForToken(api, mails);
    const form = { password: "abcdef" };
    await api.send("PUT", "/users/me/password", { form, basic: [email, "123456"] });
    expect((await api.send("GET", `/password-resets/${first}`)).status).toBe(404);
    const second = await askForToken(api, mails);
    await api.send("DELETE", `/users/${id}`, { token: admin.token });
    expect((await api.send("GET", `/password-resets/${second}`)).status).toBe(404);
    expect((await api.send("PUT", `/password-resets/${second}`, { form })).status).toBe(404);
  });

  it("cannot be asked for where no mails are sent", async () => {
    const api = await openApi(transport);
    const json = { email, link, access_token };
    expect((await api.send("POST", "/password-resets", { json })).status).toBe(503);
    const wrong = { ...json, access_token: "x".repeat(32) };
    expect((await api.send("POST", "/password-resets", { json: wrong })).status).toBe(401);
  });
});

it("looks for the user once the answer has gone out, so its time tells nothing", async () => {
  const mails = await openMailServer();
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const settings = { masterKey, jwtSecret, tokenLifetime: 60, mail: settingsFor(mails) };
  const { handler } = createApp(settings, store);
  const fields = { email, name: "Ada", picture: "", role: "user", passwordHash: "" } as const;
  await store.collection(user.collection).insert({ ...fields, sessionVersion: 1 });
  const request = new Request("http://localhost/password-resets", {
    method: "POST",
    body: new URLSearchParams({ email, link, access_token }),
  });
  const context = createContext(request);
  expect((await handler(request, context)).status).toBe(202);
  await new Promise((resolve) => setImmediate(resolve));
  const kept = store.collection(resets.collection);
  expect(await kept.count()).toBe(0);
  finishContext(context, { status: 202, bytes: 0 });
  expect(tokenIn(await mails.next())).toHaveLength(43);
  expect(await kept.count()).toBe(1);
});

it("a mail outlives the process that queued it, and nothing of it stays when it is sent", async () => {
  const mails = await openMailServer();
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const fields = { email, name: "Ada", picture: "", role: "user", passwordHash: "" } as const;
  await store.collection(user.collection).insert({ ...fields, sessionVersion: 1 });
  const dead = createResetMails(store, { send: () => Promise.reject(new Error("no server")) });
  await dead.queue({ email, link });
  await dead.stop();
  expect(await store.collection(jobCollections.jobs).count()).toBe(1);
  const next = createResetMails(store, createMailer(settingsFor(mails)));
  next.start();
  onTestFinished(() => next.stop());
  expect(tokenIn(await mails.next())).toHaveLength(43);
  await expect.poll(() => store.collection(jobCollections.jobs).count(), patiently).toBe(0);
});

it("no more mails are taken while 20 wait, and each is tried again until it is refused for good", async () => {
  let attempts = 0;
  const mails = await openMailServer({
    onMailFrom(_address, _session, done) {
      attempts += 1;
      const responseCode = attempts === 1 ? 451 : 550;
      done(Object.assign(new Error("no"), { responseCode }));
    },
  });
  const store = await openStore("sqlite::memory:");
  onTestFinished(() => store.close());
  const failures: unknown[] = [];
  const settings = { masterKey, jwtSecret, tokenLifetime: 60, mail: settingsFor(mails) };
  const { handler } = createApp(settings, store);
  const sent = createResetMails(store, createMailer(settingsFor(mails)), (error) => {
    failures.push(error);
  });
  onTestFinished(() => sent.stop());
  const fields = { email, name: "Ada", picture: "", role: "user", passwordHash: "" } as const;
  await store.collection(user.collection).insert({ ...fields, sessionVersion: 1 });
  await sent.queue({ email, link });
  await expect.poll(() => failures.length, patiently).toBe(1);
  expect(attempts).toBe(2);
  expect(String(failures[0])).not.toContain(email);
  await Promise.all(Array.from({ length: 20 }, () => sent.queue({ email: "eve@x.example", link })));
  const request = new Request("http://localhost/password-resets", {
    method: "POST",
    body: new URLSearchParams({ email, link, access_token }),
  });
  const refused = await handler(request, createContext(request));
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "60"]);
});
