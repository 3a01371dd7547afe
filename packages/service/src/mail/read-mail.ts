import { StartError } from "../errors.ts";
import { isThisMachine } from "../settings/setting.ts";

/** Where mails go out. */
export interface MailPlace {
  /** The server that takes them. Without one they are shown on the console. */
  readonly smtp?: SmtpServer | undefined;
  /** Address of the sender. */
  readonly from: string;
  /** Origins that links in mails may lead to. */
  readonly linkOrigins: readonly string[];
}

/** A server that takes mails (RFC 5321). */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Whether TLS comes first, as at port 465. */
  readonly isSecure: boolean;
  /** Whether nothing is sent before STARTTLS (RFC 3207) has succeeded. */
  readonly requiresTls: boolean;
  readonly auth?: { readonly user: string; readonly pass: string } | undefined;
}

/** The settings of mails as they were read. */
export interface MailValues {
  readonly SMTP_URL?: string | undefined;
  readonly MAIL_FROM?: string | undefined;
  readonly RESET_LINK_ORIGINS?: readonly string[] | undefined;
  readonly PUBLIC_URL?: string | undefined;
}

/** Whether a service sends mails: its settings are those of `mailSettings`, too. */
export function sendsMails({ shape }: { readonly shape: object }): boolean {
  return Object.hasOwn(shape, "SMTP_URL");
}

/**
 * Reads where mails go out. In production without `SMTP_URL` there are none.
 *
 * @throws StartError that names the variable which is missing or cannot serve.
 */
export function readMail(
  { SMTP_URL, MAIL_FROM, RESET_LINK_ORIGINS, PUBLIC_URL }: MailValues,
  {
    publicUrl,
    isProduction,
    hasAccounts,
  }: {
    readonly publicUrl: string;
    readonly isProduction: boolean;
    /** Whether mails have links of accounts. */
    readonly hasAccounts: boolean;
  },
): MailPlace | undefined {
  if (isProduction && SMTP_URL === undefined) return undefined;
  if (isProduction && PUBLIC_URL === undefined) {
    if (hasAccounts && RESET_LINK_ORIGINS === undefined) {
      throw new StartError("PUBLIC_URL or RESET_LINK_ORIGINS must be set for links in mails");
    }
    if (MAIL_FROM === undefined) throw new StartError("MAIL_FROM is not set: mails need a sender");
  }
  return {
    smtp: SMTP_URL === undefined ? undefined : readSmtp(SMTP_URL, isProduction),
    from: MAIL_FROM ?? `no-reply@${new URL(publicUrl).hostname}`,
    linkOrigins: RESET_LINK_ORIGINS ?? [publicUrl],
  };
}

/** The URL holds a password, so no message repeats it. */
function readSmtp(text: string, isProduction: boolean): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^smtps?:$/.test(url.protocol) || !url.hostname || !/^\/?$/.test(url.pathname)) {
    throw new StartError("SMTP_URL must be like smtp://user:password@mail.example:587");
  }
  if (url.hash || !/^(?:\?tls=no)?$/.test(url.search)) {
    throw new StartError("SMTP_URL takes the parameter tls=no and no other");
  }
  const isSecure = url.protocol === "smtps:";
  const isAuthenticated = url.username !== "";
  const isLocal = isThisMachine(url.hostname);
  if (isAuthenticated && url.search && !isLocal) {
    throw new StartError("SMTP_URL has a password, which tls=no would send to everyone");
  }
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port) || (isSecure ? 465 : 587),
    isSecure,
    requiresTls: !isSecure && !url.search && !isLocal && (isProduction || isAuthenticated),
    auth: isAuthenticated ? { user: decode(url.username), pass: decode(url.password) } : undefined,
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    throw new StartError("SMTP_URL has a % that must be written as %25", { cause });
  }
}
