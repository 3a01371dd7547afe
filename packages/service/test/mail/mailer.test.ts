import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import tls from "node:tls";
import type { SMTPServerOptions } from "smtp-server";
import { expect, it, onTestFinished, describe, vi } from "vitest";
import { hasOpenssl, makeCertificates } from "../../../oauth2/test/certificates.ts";
import { openMailServer } from "./mail-server.ts";
import type { SmtpServer } from "../../src/mail/read-mail.ts";
import { createMailer, MailError } from "../../src/mail/mailer.ts";

const mail = { to: "ada@example.com", subject: "Hello", text: "Text", html: "<p>HTML</p>" };
const local: Omit<SmtpServer, "port"> = {
  host: "localhost",
  isSecure: false,
  requiresTls: false,
};

function mailerTo(
  smtp: Partial<SmtpServer> & Pick<SmtpServer, "port">,
  { timeout }: { readonly timeout?: number } = {},
): { readonly send: (sent: typeof mail, signal?: AbortSignal) => Promise<void> } {
  const settings = { smtp: { ...local, ...smtp }, from: "no-reply@api.example", linkOrigins: [] };
  const mailer = createMailer(settings, timeout);
  return { send: (sent, signal = new AbortController().signal) => mailer.send(sent, signal) };
}

/** A server of our own, for what a proper one does not do. */
async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

const refusal = (responseCode: number): Error =>
  Object.assign(new Error("refused"), { responseCode });

describe("createMailer", () => {
  it("sends both forms of a mail to a server", async () => {
    const server = await openMailServer();
    await mailerTo(server).send(mail);
    const taken = await server.next();
    expect(taken).toMatchObject({ from: "no-reply@api.example", to: [mail.to] });
    expect(taken.raw).toMatch(/^Subject: Hello\r$/m);
    expect([taken.text.trim(), taken.html.trim()]).toEqual(["Text", "<p>HTML</p>"]);
  });

  it.each([
    "ada@example.com\r\nBcc: eve@example.com",
    "ada@example.com, eve@example.com",
    "<ada@example.com> SIZE=1\r\nRCPT TO:<eve@example.com>",
  ])("never writes to others, whatever the address is: %j", async (to) => {
    const server = await openMailServer();
    await mailerTo(server)
      .send({ ...mail, to })
      .catch(() => undefined);
    for (const { to: recipients, raw } of server.taken) {
      expect(recipients).not.toContain("eve@example.com");
      expect(raw).not.toMatch(/^Bcc:/im);
    }
  });

  it("keeps a subject in its header", async () => {
    const server = await openMailServer();
    const subject = "Hello\r\nBcc: eve@example.com\r\n\r\nbody";
    await mailerTo(server).send({ ...mail, subject });
    const taken = await server.next();
    expect(taken.raw).not.toMatch(/^Bcc:/im);
    expect(taken.to).toEqual([mail.to]);
  });

  it("signs in, and says without the password when that is refused", async () => {
    const server = await openMailServer({
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === "right"
          ? done(null, { user: username })
          : done(new Error(`no ${String(password)}`)),
    });
    const auth = { user: "api", pass: "right" };
    await mailerTo({ ...server, auth }).send(mail);
    expect((await server.next()).user).toBe("api");

    const wrong = mailerTo({ ...server, auth: { user: "api", pass: "wrong-secret" } });
    const error: unknown = await wrong.send(mail).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MailError);
    expect(String(error)).toBe("MailError: a mail was not sent: EAUTH, the server answered 535");
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/secret|ada@/);
  });

  it("refuses a server without STARTTLS where TLS is needed, before it says anything", async () => {
    const server = await openMailServer();
    const sending = mailerTo({ ...server, requiresTls: true }).send(mail);
    await expect(sending).rejects.toThrow("a mail was not sent: ETLS");
    expect(server.taken).toEqual([]);
  });

  it("refuses a certificate that nobody vouches for", async () => {
    const server = await openMailServer({ disabledCommands: [] });
    await expect(mailerTo({ ...server, requiresTls: true }).send(mail)).rejects.toThrow(MailError);
    const secure = await openMailServer({ secure: true });
    await expect(mailerTo({ ...secure, isSecure: true }).send(mail)).rejects.toThrow(MailError);
    expect([...server.taken, ...secure.taken]).toEqual([]);
  });

  it.skipIf(!hasOpenssl())("goes over to TLS, by STARTTLS and from the start", async () => {
    const { ca, server: certificate } = makeCertificates();
    const host = "127.0.0.1";
    const before = tls.getCACertificates("default");
    tls.setDefaultCACertificates([...before, ca]);
    onTestFinished(() => tls.setDefaultCACertificates(before));
    const server = await openMailServer({ ...certificate, disabledCommands: [] });
    await mailerTo({ ...server, host, requiresTls: true }).send(mail);
    expect((await server.next()).isEncrypted).toBe(true);
    const secure = await openMailServer({ ...certificate, secure: true });
    await mailerTo({ ...secure, host, isSecure: true }).send(mail);
    expect((await secure.next()).isEncrypted).toBe(true);
  });

  it("says what may be taken later", async () => {
    const server = await openMailServer({
      onMailFrom: (_address, _session, done) =>
        done(Object.assign(new Error("later"), { responseCode: 451 })),
    });
    await expect(mailerTo(server).send(mail)).rejects.toMatchObject({ isTemporary: true });
    const port = await listen((socket) => void socket.destroy());
    await expect(mailerTo({ port }).send(mail)).rejects.toMatchObject({ isTemporary: true });
  });

  it("says what is refused for good", async () => {
    const server = await openMailServer({
      onRcptTo: (_address, _session, done) =>
        done(Object.assign(new Error("no such mailbox"), { responseCode: 550 })),
    });
    const sending = mailerTo(server).send(mail);
    await expect(sending).rejects.toThrow("EENVELOPE, the server answered 550");
    await expect(sending).rejects.toMatchObject({ isTemporary: false });
  });

  it.each([
    ["its machine", { onConnect: (_session, done) => done(refusal(554)) }, true],
    ["its sender", { onMailFrom: (_address, _session, done) => done(refusal(530)) }, true],
    ["the size of a mail", { onMailFrom: (_address, _session, done) => done(refusal(552)) }, false],
  ] satisfies [string, SMTPServerOptions, boolean][])(
    "says whether the service is refused, or the mail: %s",
    async (_, options, isOfService) => {
      const server = await openMailServer(options);
      const refused = { isTemporary: false, isOfService };
      await expect(mailerTo(server).send(mail)).rejects.toMatchObject(refused);
    },
  );

  it("says that there is no server", async () => {
    const port = await listen(() => undefined);
    const free = createServer().listen(0, "127.0.0.1");
    await once(free, "listening");
    const closed = (free.address() as AddressInfo).port;
    await new Promise((resolve) => free.close(resolve));
    expect(closed).not.toBe(port);
    await expect(mailerTo({ port: closed }).send(mail)).rejects.toThrow(/ECONN|ESOCKET/);
  });

  it.each([
    ["never greets", () => undefined],
    [
      "says a little now and then",
      (socket: Socket) => {
        const timer = setInterval(() => void socket.write("220-wait\r\n"), 20);
        socket.on("close", () => clearInterval(timer));
      },
    ],
  ])("gives up a server that %s", async (_what, behave) => {
    const port = await listen(behave);
    await expect(mailerTo({ port }, { timeout: 200 }).send(mail)).rejects.toThrow("ETIMEDOUT");
  });

  it("gives up when its signal aborts", async () => {
    const connected = Promise.withResolvers<void>();
    const port = await listen(() => connected.resolve());
    const controller = new AbortController();
    const sending = mailerTo({ port }).send(mail, controller.signal);
    void connected.promise.then(() => setImmediate(() => controller.abort()));
    await expect(sending).rejects.toThrow(MailError);
    await expect(mailerTo({ port }).send(mail, controller.signal)).rejects.toThrow(MailError);
  });

  it("shows mails where there is no server", async () => {
    const shown = vi.spyOn(console, "log").mockImplementation(() => undefined);
    onTestFinished(() => shown.mockRestore());
    const mailer = createMailer({ from: "no-reply@api.example", linkOrigins: [] });
    await mailer.send(mail, new AbortController().signal);
    expect(shown).toHaveBeenCalledExactlyOnceWith("Mail to ada@example.com: Hello\n\nText\n");
  });
});
