import { Socket } from "node:net";
import type { AccountMail, Mailer } from "@fetchwork/rest/accounts";
import type { MailPlace, SmtpServer } from "./read-mail.ts";

/** A mail that the server did not take. Its message says why, without address, text or password. */
export class MailError extends Error {
  override readonly name = "MailError";
  /** Whether another attempt may succeed. */
  readonly isTemporary: boolean;
  /** Whether the server refuses the service, such as its password, and not this mail. */
  readonly isOfService: boolean;

  constructor(message: string, isTemporary: boolean, isOfService = false) {
    super(message);
    this.isTemporary = isTemporary;
    this.isOfService = isOfService;
  }
}

/**
 * Makes what sends mails, or shows them where there is no server. It rejects with a MailError. Its
 * library is loaded with the first mail.
 *
 * @param timeout - Milliseconds for one attempt, from connecting to the last response.
 */
export function createMailer({ smtp, from }: MailPlace, timeout = 20_000): Mailer {
  return {
    async send(mail, signal) {
      if (!smtp) {
        console.log(`Mail to ${mail.to}: ${mail.subject}\n\n${mail.text}\n`);
        return;
      }
      try {
        await sendOnce(smtp, { ...mail, from }, { timeout, signal });
      } catch (error) {
        throw mailError(error);
      }
    },
  };
}

async function sendOnce(
  { host, port, isSecure, requiresTls, auth }: SmtpServer,
  mail: AccountMail & { readonly from: string },
  { timeout, signal }: { readonly timeout: number; readonly signal: AbortSignal },
): Promise<void> {
  const { createTransport } = await import("nodemailer");
  signal.throwIfAborted();
  // A server that sends a little now and then never reaches a limit of silence. So the whole has
  // one too.
  const socket = new Socket();
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    socket.destroy(new Error("the server took too long"));
  }, timeout);
  const stop = (): void => void socket.destroy(new Error("the server stops"));
  signal.addEventListener("abort", stop);
  const transport = createTransport({
    host,
    port,
    secure: isSecure,
    requireTLS: requiresTls,
    ...(auth ? { auth: { ...auth } } : {}),
    socket,
    connectionTimeout: timeout,
    greetingTimeout: timeout,
    socketTimeout: timeout,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    // An address in an object is never read as a list of several.
    await transport.sendMail({ ...mail, to: { name: "", address: mail.to } });
  } catch (error) {
    throw isLate ? Object.assign(new Error("too late"), { code: "ETIMEDOUT" }) : error;
  } finally {
    clearTimeout(deadline);
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

const permanent = new Set(["EAUTH", "ENOAUTH", "ETLS", "EENVELOPE", "EMESSAGE"]);
const ofService = /^(?:EAUTH|ENOAUTH|ETLS|EPROTOCOL|EENVELOPE MAIL FROM (?!552))/;

/** Whether another attempt may succeed (RFC 5321 section 4.2.1). */
function isTemporary(error: unknown): boolean {
  const { code, responseCode } = detailsOf(error);
  return typeof responseCode === "number" ? responseCode < 500 : !permanent.has(String(code));
}

/** Replaces an error of the library, which names addresses and commands. */
function mailError(error: unknown): MailError {
  const { code, command, responseCode } = detailsOf(error);
  const status = typeof responseCode === "number" ? `, the server answered ${responseCode}` : "";
  return new MailError(
    `a mail was not sent: ${typeof code === "string" ? code : "unknown error"}${status}`,
    isTemporary(error),
    // Such as 554 to this machine, and 530 without a password; 552 is about the size of the mail.
    ofService.test(`${String(code)} ${String(command)} ${String(responseCode)}`),
  );
}

function detailsOf(error: unknown): Partial<Record<"code" | "command" | "responseCode", unknown>> {
  return typeof error === "object" && error !== null ? error : {};
}
