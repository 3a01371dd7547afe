import { describe, expect, it } from "vitest";
import { freePort } from "../../../../test/free-port.ts";
import { openMailServer } from "../mail/mail-server.ts";
import { secrets } from "../notes-service.ts";
import { startNotes } from "../service-process.ts";

async function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/ping`).then(
    ({ ok }) => ok,
    () => false,
  );
}

const token = `${"A".repeat(42)}1`;

describe("the log in production", () => {
  it("has one object per line, from the start to the last exchange before the end", async () => {
    const server = startNotes({ NODE_ENV: "production" });
    const listening = JSON.parse(await server.line());
    expect(listening).toMatchObject({ level: "info", name: "notes", msg: "listening" });
    expect(Date.parse(listening.time)).toBeGreaterThan(0);
    const headers = { "x-request-id": "mine", "user-agent": "curl\u009b31m" };
    await fetch(`${listening.url}ping?limit=1`, { headers });
    const text = await server.line();
    expect(text).toContain(String.raw`curl\u009b31m`);
    expect(JSON.parse(text)).toMatchObject({
      level: "info",
      msg: "GET 200",
      method: "GET",
      url: "/ping?limit=1",
      requestId: "mine",
      status: 200,
      ip: "127.0.0.1",
      duration: expect.any(Number),
      bytes: 4,
    });
    await fetch(`${listening.url}nothing`);
    server.kill("SIGTERM");
    expect(JSON.parse(await server.line())).toMatchObject({ msg: "GET 404" });
    expect(await server.ended).toBe(0);
  });

  it("has no tokens, wherever they were sent", async () => {
    const server = startNotes({ NODE_ENV: "production" });
    const { url } = JSON.parse(await server.line()) as { url: string };
    const sent = [
      [`password-resets/${token}`, {}],
      [`password-resets/${token}/?x=1`, {}],
      [`password-resets/%41${token.slice(1)}`, {}],
      [`users/me?access_token=${token}`, {}],
      [`auth/idp/callback?code=${token}&state=1`, {}],
      ["users/me", { authorization: `Bearer ${token}` }],
      ["ping", { referer: `${url}reset/${token}` }],
    ] as const;
    for (const [at, headers] of sent) {
      await fetch(`${url}${at}`, { headers });
      const line = await server.line();
      expect(line).toContain('"status":');
      expect(line).not.toContain(token.slice(1));
    }
  });

  it("has only what went wrong with LOG_LEVEL=error, without the address of anybody", async () => {
    const mails = await openMailServer({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error("no such mailbox"), { responseCode: 550 })),
    });
    const port = await freePort();
    const server = startNotes({
      NODE_ENV: "production",
      LOG_LEVEL: "error",
      PORT: String(port),
      PUBLIC_URL: "https://api.example",
      SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    });
    const url = `http://127.0.0.1:${port}`;
    await expect.poll(() => isUp(url), { timeout: 30_000 }).toBe(true);
    const form = { email: "ada@example.com", access_token: secrets.MASTER_KEY };
    const post = async (at: string, more: Readonly<Record<string, string>>): Promise<number> => {
      const body = new URLSearchParams({ ...form, ...more });
      return (await fetch(`${url}${at}`, { method: "POST", body })).status;
    };
    expect(await post("/users", { password: "123456" })).toBe(201);
    expect(await post("/password-resets", { link: "https://api.example/reset" })).toBe(202);
    const line = await server.line();
    expect(JSON.parse(line)).toMatchObject({
      level: "error",
      err: { message: "a mail was not sent: EENVELOPE, the server answered 550" },
    });
    expect(line).not.toContain("ada@");
    server.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    await expect(server.line()).rejects.toThrow("ended");
  });
});

describe("the log in development", () => {
  it("has lines without tokens", async () => {
    const server = startNotes({ LOG: "spec" });
    const greeting = await server.linesTo("Ctrl-C");
    const [url = ""] = /http:\/\/[\d.]+:\d+/.exec(greeting) ?? [];
    await fetch(`${url}/password-resets/${token}`);
    expect(await server.line()).toMatch(
      /^\S+ \[INFO\] GET - \/password-resets\/\*\*\* - \S+ - 404 \(\d+\) - /,
    );
  });
});
