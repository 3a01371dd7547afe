import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { onTestFinished } from "vitest";

/** A mail as a server took it. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Header and body, as they came. */
  readonly raw: string;
  /** Body parts, decoded. */
  readonly text: string;
  readonly html: string;
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
}

/** A server that takes mails while a test runs. */
export interface MailServer {
  readonly port: number;
  /** What it took so far. */
  readonly taken: readonly TakenMail[];
  /** Resolves to the next mail that was not waited for yet. */
  next(): Promise<TakenMail>;
}

/** Starts a server. Without options it takes everything, without TLS and passwords. */
export async function openMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const waiting: ((mail: TakenMail) => void)[] = [];
  let seen = 0;
  const server = new SMTPServer({
    authOptional: options.onAuth === undefined,
    disabledCommands: ["STARTTLS"],
    logger: false,
    onData(stream, session, done) {
      const take = async (): Promise<void> => {
        const raw = await text(stream);
        const { mailFrom, rcptTo } = session.envelope;
        const mail: TakenMail = {
          from: mailFrom ? mailFrom.address : "",
          to: rcptTo.map(({ address }) => address),
          raw,
          text: partOf(raw, "text/plain"),
          html: partOf(raw, "text/html"),
          isEncrypted: session.secure,
          user: session.user === undefined ? undefined : String(session.user),
        };
        done();
        taken.push(mail);
        const first = waiting.shift();
        if (first) {
          seen += 1;
          first(mail);
        }
      };
      void take();
    },
    ...options,
  });
  server.on("error", () => undefined); // What a broken connection ended with is the client's to tell.
  const listener = server.listen(0, "127.0.0.1");
  await once(listener, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return {
    port: (listener.address() as AddressInfo).port,
    taken,
    next() {
      const mail = taken[seen];
      if (!mail) return new Promise((resolve) => waiting.push(resolve));
      seen += 1;
      return Promise.resolve(mail);
    },
  };
}

/** Finds a part of a mail (RFC 2045) and undoes its transfer encoding. */
function partOf(raw: string, type: string): string {
  const start = raw.indexOf(`Content-Type: ${type}`);
  const [head = "", ...rest] = raw.slice(start).split("\r\n\r\n");
  const [body = ""] = rest.join("\r\n\r\n").split("\r\n----");
  if (head.includes("quoted-printable")) return quotedPrintable(body);
  return head.includes("base64") ? Buffer.from(body, "base64").toString() : body;
}

function quotedPrintable(body: string): string {
  const bytes = body
    .replaceAll("=\r\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString();
}
