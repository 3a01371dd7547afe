// #if resets
import { StartError } from "./start-error.ts";

/** Where mails go out. */
export interface MailSettings {
  /** The server that takes them. Without one they are shown on the console. */
  readonly smtp?: SmtpSettings | undefined;
  /** Address of the sender. */
  readonly from: string;
  /** Origins that links in mails may lead to. */
  readonly linkOrigins: readonly string[];
}

/** A server that takes mails (RFC 5321). */
export interface SmtpSettings {
  readonly host: string;
  readonly port: number;
  /** Whether TLS comes first, as at port 465. */
  readonly isSecure: boolean;
  /** Whether nothing is sent before STARTTLS (RFC 3207) has succeeded. */
  readonly requiresTls: boolean;
  readonly auth?: { readonly user: string; readonly pass: string } | undefined;
}

const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Reads `SMTP_URL`, `MAIL_FROM` and `RESET_LINK_ORIGINS`. In production without `SMTP_URL` there are no mails.
 *
 * @throws StartError that names the variable which is missing or cannot serve.
 */
export function readMailSettings(
  environment: NodeJS.ProcessEnv,
  { publicUrl, isProduction }: { readonly publicUrl: string; readonly isProduction: boolean },
): MailSettings | undefined {
  const { SMTP_URL: url, RESET_LINK_ORIGINS: origins, PUBLIC_URL: given } = environment;
  if (isProduction && !url) return undefined;
  if (isProduction && !origins && !given) {
    throw new StartError("RESET_LINK_ORIGINS is not set: links in mails must lead somewhere");
  }
  return {
    smtp: url ? readSmtp(url, isProduction) : undefined,
    from: readSender(environment["MAIL_FROM"] || `no-reply@${new URL(publicUrl).hostname}`),
    linkOrigins: (origins || publicUrl).split(",").flatMap((text) => readOrigin(text.trim())),
  };
}

/** The URL holds a password, so no message repeats it. */
function readSmtp(text: string, isProduction: boolean): SmtpSettings {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^smtps?:$/.test(url.protocol) || !url.hostname || !/^\/?$/.test(url.pathname)) {
    throw new StartError("SMTP_URL must be like smtp://user:password@mail.example:587");
  }
  if (url.hash || !/^(?:\?tls=no)?$/.test(url.search)) {
    throw new StartError("SMTP_URL takes the parameter tls=no and no other");
  }
  const isSecure = url.protocol === "smtps:";
  const isAuthenticated = url.username !== "";
  const isLocal = loopback.test(url.hostname);
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

function readSender(value: string): string {
  if (/^[^\s<>"]+@[^\s<>"]+$/.test(value)) return value;
  throw new StartError(`MAIL_FROM is ${JSON.stringify(value)}, but must be an address`);
}

function readOrigin(text: string): readonly string[] {
  if (text === "") return [];
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return [url.origin];
  throw new StartError(`RESET_LINK_ORIGINS has ${JSON.stringify(text)}, which is no origin`);
}
// #endif
