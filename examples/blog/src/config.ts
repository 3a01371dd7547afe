import path from "node:path";
import { parseIPRange } from "@fetchwork/middleware";
import type { AccountProvider } from "@fetchwork/rest/accounts/providers";
import { about } from "./about.ts";
import { readMailSettings, type MailSettings } from "./services/mail-settings.ts";
import { readProviders } from "./services/providers.ts";
import { readPublicUrl } from "./services/public-url.ts";
import { StartError } from "./services/start-error.ts";

/** Settings of the server, from the environment. */
export interface Config {
  readonly isProduction: boolean;
  readonly hostname: string;
  readonly port: number;
  readonly masterKey: string;
  readonly jwtSecret: string;
  /** Validity of a token in seconds. */
  readonly tokenLifetime: number;
  /** The path in it is absolute. */
  readonly databaseUrl: string;
  /** Form of the log on the standard output: lines for people, objects for programs, or none. */
  readonly log: "spec" | "json" | "off";
  /** Least important of what the log has, where it is for programs. */
  readonly logLevel: (typeof logLevels)[number];
  /** Addresses and ranges of the proxies in front, which alone may name a client's address. */
  readonly trustedProxies: readonly string[];
  /** Sign-ins and changes of a password per minute and address; 0 for any number. */
  readonly signInLimit: number;
  /** Wrong passwords for an account before further attempts have to wait; 0 for any number. */
  readonly signInFailures: number;
  /** Verifies the webhooks that come to `/api/vendor/webhooks`; without it none are taken. */
  readonly webhookSecret: string | undefined;
  /** Whether webhooks may be sent by plain HTTP and to private addresses, as while developing. */
  readonly webhooksToPrivate: boolean;
  /** Origin under which browsers reach the server. */
  readonly publicUrl: string;
  /** Providers that users sign in with. */
  readonly providers: readonly AccountProvider[];
  /** How mails are sent; without it none are. */
  readonly mail: MailSettings | undefined;
}

const logLevels = ["debug", "info", "warn", "error", "silent"] as const;

/** Folder of the project, whatever folder it is started from. */
export const projectFolder = path.join(import.meta.dirname, "..");

/**
 * Reads the settings.
 *
 * @throws StartError that names the variable which is missing or cannot serve.
 */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  const isProduction = environment["NODE_ENV"] === "production";
  const port = wholeNumber("PORT", environment["PORT"] || "9000", 0, 65_535);
  const publicUrl = readPublicUrl(environment["PUBLIC_URL"], `http://localhost:${port}`);
  const providers = readProviders(environment, publicUrl);
  if (isProduction && providers.length > 0 && !environment["PUBLIC_URL"]) {
    throw new StartError("PUBLIC_URL is not set: providers send browsers there");
  }
  return {
    isProduction,
    hostname: environment["IP"] || "0.0.0.0",
    port,
    masterKey: secret("MASTER_KEY", environment["MASTER_KEY"]),
    jwtSecret: secret("JWT_SECRET", environment["JWT_SECRET"]),
    tokenLifetime: wholeNumber(
      "TOKEN_LIFETIME",
      environment["TOKEN_LIFETIME"] || "86400",
      1,
      31_536_000,
    ),
    databaseUrl: absoluteUrl(environment["DATABASE_URL"] || `sqlite:data/${about.name}.db`),
    logLevel: logLevel(environment["LOG_LEVEL"] || "info"),
    log: logFormat(environment["LOG"] || (isProduction ? "json" : "spec")),
    trustedProxies: addressRanges(environment["TRUSTED_PROXIES"] || ""),
    webhookSecret: optionalSecret("WEBHOOK_SECRET", environment["WEBHOOK_SECRET"]),
    webhooksToPrivate: yesOrNo(
      "WEBHOOKS_TO_PRIVATE",
      environment["WEBHOOKS_TO_PRIVATE"] || (isProduction ? "no" : "yes"),
    ),
    signInLimit: wholeNumber("SIGN_IN_LIMIT", environment["SIGN_IN_LIMIT"] || "30", 0, 1_000_000),
    signInFailures: failures(environment["SIGN_IN_FAILURES"] || "10"),
    publicUrl,
    providers,
    mail: readMailSettings(environment, { publicUrl, isProduction }),
  };
}

function secret(name: string, value: string | undefined): string {
  if (!value) throw new StartError(`${name} is not set; see .env.example`);
  if (value.startsWith("replace-with-"))
    throw new StartError(`${name} still has its example value`);
  if (value.length < 32) throw new StartError(`${name} needs at least 32 characters`);
  return value;
}

function optionalSecret(name: string, value: string | undefined): string | undefined {
  return value ? secret(name, value) : undefined;
}

function yesOrNo(name: string, value: string): boolean {
  if (value === "yes" || value === "no") return value === "yes";
  throw new StartError(`${name} is ${JSON.stringify(value)}, but must be yes or no`);
}

function wholeNumber(name: string, value: string, min: number, max: number): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max) {
    throw new StartError(
      `${name} is ${JSON.stringify(value)}, but must be a whole number from ${min} to ${max}`,
    );
  }
  return number;
}

function failures(value: string): number {
  const number = wholeNumber("SIGN_IN_FAILURES", value, 0, 1_000);
  if (number === 0 || number >= 3) return number;
  throw new StartError(`SIGN_IN_FAILURES is ${number}, but must be 0 or at least 3`);
}

function logFormat(value: string): Config["log"] {
  if (value === "spec" || value === "json" || value === "off") return value;
  throw new StartError(`LOG is ${JSON.stringify(value)}, but must be spec, json or off`);
}

function logLevel(value: string): Config["logLevel"] {
  const level = logLevels.find((known) => known === value);
  if (level !== undefined) return level;
  const known = logLevels.join(", ");
  throw new StartError(`LOG_LEVEL is ${JSON.stringify(value)}, but must be one of ${known}`);
}

function addressRanges(value: string): readonly string[] {
  const ranges = value.split(",").flatMap((range) => range.trim() || []);
  for (const range of ranges) {
    if (parseIPRange(range) === undefined) {
      throw new StartError(`TRUSTED_PROXIES has ${JSON.stringify(range)}, which is no address`);
    }
  }
  return ranges;
}

/** A relative path is one in the project, whatever folder it is started from. */
function absoluteUrl(databaseUrl: string): string {
  return databaseUrl.replace(/^sqlite:(?![:/])(.+)$/s, (_, file: string) => {
    return `sqlite:${path.resolve(projectFolder, file)}`;
  });
}
