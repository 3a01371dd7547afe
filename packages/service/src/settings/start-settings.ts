import path from "node:path";
import type { AccountProvider } from "@fetchwork/rest/accounts/providers";
import { StartError } from "../errors.ts";
import { readMail, sendsMails, type MailPlace, type MailValues } from "../mail/read-mail.ts";
import type { Config, Environment, SettingsOf } from "./define-config.ts";
import { readProviders } from "./read-providers.ts";
import type { AccountSettings, ServerSettings, WebhookSettings } from "./service-settings.ts";

/** Settings with which a service starts, and values that follow from those settings. */
export interface StartSettings {
  readonly isProduction: boolean;
  readonly hostname: string;
  readonly port: number;
  /** Processes that serve on the port. */
  readonly processes: number;
  /** Origin under which browsers reach the server. */
  readonly publicUrl: string;
  readonly masterKey: string;
  /** Absent without users. */
  readonly jwtSecret: string | undefined;
  /** Validity of a token in seconds. */
  readonly tokenLifetime: number | undefined;
  /** The path in it is absolute. */
  readonly databaseUrl: string;
  /** Whether a process that starts runs migrations. */
  readonly migratesAtStart: boolean;
  readonly log: "spec" | "json" | "off";
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  /** Addresses and ranges of proxies that may name a client's address. */
  readonly trustedProxies: readonly string[];
  /** Origins whose pages may read responses. Absent, all may. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Sign-ins and changes of a password per minute and address; `0` for any number. */
  readonly signInLimit: number;
  /** Wrong passwords for an account before further attempts have to wait; `0` for any number. */
  readonly signInFailures: number;
  readonly webhooksToPrivate: boolean;
  /** Keys that seal secrets of webhooks, the current one first. Absent, none are sealed. */
  readonly secretKeys?: readonly string[] | undefined;
  /** How mails are sent. Absent, none are. */
  readonly mail: MailPlace | undefined;
  /** Providers that users sign in with. */
  readonly providers: readonly AccountProvider[];
  /** All settings, by the names of their variables. */
  readonly values: SettingsOf<Config["shape"]>;
}

type Values = SettingsOf<Pick<ServerSettings, keyof ServerSettings>> &
  Partial<SettingsOf<Pick<AccountSettings, keyof AccountSettings>>> &
  Partial<SettingsOf<Pick<WebhookSettings, keyof WebhookSettings>>> &
  MailValues;

/** Service whose settings are read. */
interface Read {
  readonly config: Config;
  readonly name: string;
  readonly options?:
    | {
        readonly accounts?: object | undefined;
        readonly receivers?: readonly { readonly secret: string }[] | undefined;
      }
    | undefined;
}

/**
 * Reads what a service starts with.
 *
 * @param folder - Folder of relative paths. Default: the working folder.
 * @throws StartError that names what is missing or cannot serve.
 */
export function readStartSettings(
  { config, name, options }: Read,
  environment: Environment,
  folder: string = process.cwd(),
): StartSettings {
  // A secret of a receiver needs no separate setting.
  const { receivers = [] } = options ?? {};
  const secrets = receivers.map(
    ({ secret }) => [secret, environment[secret] || undefined] as const,
  );
  const read: StartSettings["values"] = {
    ...Object.fromEntries(secrets),
    ...config.read(environment),
  };
  const values = read as unknown as Values;
  const isProduction = environment["NODE_ENV"] === "production";
  const { DATABASE_URL = `sqlite:data/${name}.db`, LOG, PORT, PUBLIC_URL } = values;
  const publicUrl = PUBLIC_URL ?? `http://localhost:${PORT}`;
  const providers = readProviders(environment, publicUrl);
  const hasAccounts = options?.accounts !== undefined;
  const mailContext = { publicUrl, isProduction, hasAccounts };
  if (providers[0] && !hasAccounts) {
    const variable = `OIDC_${providers[0].name.toUpperCase().replaceAll("-", "_")}_CLIENT_ID`;
    const advice = "remove it, or set accounts of defineService";
    throw new StartError(`${variable} is set, but the service has no accounts: ${advice}`);
  }
  if (isProduction && providers.length > 0 && PUBLIC_URL === undefined) {
    throw new StartError("PUBLIC_URL is not set: providers send browsers there");
  }
  return {
    isProduction,
    hostname: values.IP,
    port: PORT,
    processes: values.PROCESSES,
    publicUrl,
    masterKey: values.MASTER_KEY,
    jwtSecret: values.JWT_SECRET,
    tokenLifetime: values.TOKEN_LIFETIME,
    databaseUrl: absoluteUrl(DATABASE_URL, folder),
    migratesAtStart: values.MIGRATE === "start",
    log: LOG ?? (isProduction ? "json" : "spec"),
    logLevel: values.LOG_LEVEL,
    trustedProxies: values.TRUSTED_PROXIES,
    corsOrigins: values.CORS_ORIGINS,
    signInLimit: values.SIGN_IN_LIMIT ?? 0,
    signInFailures: values.SIGN_IN_FAILURES ?? 0,
    secretKeys: values.SECRET_KEY,
    webhooksToPrivate: values.WEBHOOKS_TO_PRIVATE ?? !isProduction,
    mail: sendsMails(config) ? readMail(values, mailContext) : undefined,
    providers,
    values: read,
  };
}

/** A relative path is one in the folder, wherever the service is started. */
function absoluteUrl(databaseUrl: string, folder: string): string {
  return databaseUrl.replace(/^sqlite:(?![:/])(.+)$/s, (_, file: string) => {
    return `sqlite:${path.resolve(folder, file)}`;
  });
}
