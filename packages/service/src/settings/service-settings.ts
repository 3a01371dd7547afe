import { z } from "zod";
import {
  addressRanges,
  oneOf,
  origin,
  origins,
  processCount,
  secret,
  secrets,
  wholeNumber,
  yesOrNo,
  type Setting,
} from "./setting.ts";

/** Settings of every service. */
export interface ServerSettings {
  /** Key that does what nobody else may. At least 32 characters. */
  readonly MASTER_KEY: Setting<string>;
  /** Address on which the server listens. Default: `0.0.0.0`. */
  readonly IP: Setting<string>;
  /** Port on which the server listens; `0` for any free one. Default: `9000`. */
  readonly PORT: Setting<number>;
  /** Processes on the port, 1 to 256, or `auto` per core; more need PostgreSQL. Default: `1`. */
  readonly PROCESSES: Setting<number>;
  /** Origin under which browsers reach the server. Default: `http://localhost` with the port. */
  readonly PUBLIC_URL: Setting<string | undefined>;
  /** URL of the documents; relative to the project. Default: `sqlite:data/<name>.db`. */
  readonly DATABASE_URL: Setting<string | undefined>;
  /** When migrations run: at the start, or by `fetchwork migrate run`. Default: `off`. */
  readonly MIGRATE: Setting<"start" | "off">;
  /** Form of the log: lines, objects or none. Default: `json` in production, else `spec`. */
  readonly LOG: Setting<"spec" | "json" | "off" | undefined>;
  /** Level below which the log `json` leaves lines out. Default: `info`. */
  readonly LOG_LEVEL: Setting<"debug" | "info" | "warn" | "error" | "silent">;
  /** Origins whose pages may read responses. Default: all. */
  readonly CORS_ORIGINS: Setting<readonly string[] | undefined>;
  /** Addresses and ranges of proxies, which alone may name a client's address. Default: none. */
  readonly TRUSTED_PROXIES: Setting<readonly string[]>;
}

/** Settings of every service. */
export const serverSettings: ServerSettings = {
  MASTER_KEY: secret().meta({
    description:
      "Creates users and does what nobody else may. At least 32 characters: openssl rand -hex 32",
  }),
  IP: z
    .string()
    .default("0.0.0.0")
    .meta({
      description: "Address on which the server listens.",
      examples: ["0.0.0.0"],
    }),
  PORT: wholeNumber(0, 65_535)
    .default(9000)
    .meta({ description: "Port on which the server listens.", examples: ["9000"] }),
  PROCESSES: processCount()
    .default(1)
    .meta({
      description: "Processes that serve, or auto for one per core. More than 1 need PostgreSQL.",
      examples: ["auto"],
    }),
  PUBLIC_URL: origin()
    .optional()
    .meta({
      description: "Origin under which browsers reach the server.",
      examples: ["http://localhost:9000"],
    }),
  DATABASE_URL: z
    .string()
    .optional()
    .meta({
      description:
        "Where the documents are: by default a file in data/, created when it is not there. A relative path is one in this folder, as in sqlite:data/other.db.",
      examples: ["postgres://localhost/documents"],
    }),
  MIGRATE: oneOf("start", "off")
    .default("off")
    .meta({
      description:
        "Whether a process that starts runs the migrations that did not run: start, or off.",
      examples: ["start"],
    }),
  LOG: oneOf("spec", "json", "off")
    .optional()
    .meta({
      description:
        "The log on the standard output: spec (lines), json (the default in production) or off.",
      examples: ["spec"],
    }),
  LOG_LEVEL: oneOf("debug", "info", "warn", "error", "silent")
    .default("info")
    .meta({
      description: "Least important of what the log json has: debug, info, warn, error or silent.",
      examples: ["info"],
    }),
  CORS_ORIGINS: origins()
    .optional()
    .meta({
      description: "Origins whose pages may read responses, with commas; without it all may.",
      examples: ["https://www.example.com"],
    }),
  TRUSTED_PROXIES: addressRanges()
    .default([])
    .meta({
      description:
        "Proxies in front of the server, which alone may name a client's address: addresses and ranges, with commas.",
      examples: ["10.0.0.0/8"],
    }),
};

/** Settings of services with users. */
export interface AccountSettings {
  /** Secret that signs users' tokens. At least 32 characters; another one signs everybody out. */
  readonly JWT_SECRET: Setting<string>;
  /** Validity of a token in seconds. Default: `86_400`, one day. */
  readonly TOKEN_LIFETIME: Setting<number>;
  /** Sign-ins and password changes per minute and address; `0`: any. Default: `30`. */
  readonly SIGN_IN_LIMIT: Setting<number>;
  /** Wrong passwords of an account before waits: `0`: any number, or from 3. Default: `10`. */
  readonly SIGN_IN_FAILURES: Setting<number>;
}

/** Settings of services with users. */
export const accountSettings: AccountSettings = {
  JWT_SECRET: secret().meta({
    description: "Signs the tokens of users. At least 32 characters: openssl rand -hex 32",
  }),
  TOKEN_LIFETIME: wholeNumber(1, 31_536_000)
    .default(86_400)
    .meta({ description: "Validity of a token in seconds.", examples: ["86400"] }),
  SIGN_IN_LIMIT: wholeNumber(0, 1_000_000)
    .default(30)
    .meta({
      description: "Sign-ins per minute and address; 0 for any number.",
      examples: ["30"],
    }),
  SIGN_IN_FAILURES: wholeNumber(0, 1_000)
    .refine((count) => count === 0 || count >= 3, { error: "must be 0 or at least 3" })
    .default(10)
    .meta({
      description:
        "Wrong passwords for an account before further attempts have to wait; 0 for any number.",
      examples: ["10"],
    }),
};

/** Settings of services that send mails. */
export interface MailSettings {
  /**
   * Mail server. Default: mails are shown on the console in development, and not sent otherwise.
   */
  readonly SMTP_URL: Setting<string | undefined>;
  /** Address of the sender. Default: `no-reply@` and the host of `PUBLIC_URL`. */
  readonly MAIL_FROM: Setting<string | undefined>;
  /** Origins that links in mails may lead to. Default: `PUBLIC_URL`. */
  readonly RESET_LINK_ORIGINS: Setting<readonly string[] | undefined>;
}

/** Settings of services that send mails. */
export const mailSettings: MailSettings = {
  SMTP_URL: z
    .string()
    .optional()
    .meta({
      description:
        "The server that takes mails: smtps://, or smtp:// with STARTTLS, which ?tls=no does without. Without it mails are shown on the console in development, and none are sent in production.",
      examples: ["smtp://user:password@mail.example:587"],
    }),
  MAIL_FROM: z
    .string()
    .regex(/^[^\s<>"]+@[^\s<>"]+$/, { error: "must be an address of mail" })
    .optional()
    .meta({ description: "Address of the sender of mails.", examples: ["no-reply@example.com"] }),
  RESET_LINK_ORIGINS: origins()
    .optional()
    .meta({
      description:
        "Origins of the pages that links in mails lead to, with commas; without it PUBLIC_URL.",
      examples: ["https://www.example.com"],
    }),
};

/** Settings of services that send webhooks. */
export interface WebhookSettings {
  /**
   * Keys that seal the secrets of webhooks in the database, with commas: the first one seals, all
   * of them open. At least 32 characters each. Default: secrets are stored as they are, which they
   * stay until they are changed.
   */
  readonly SECRET_KEY: Setting<readonly string[] | undefined>;
  /** Whether webhooks may use HTTP and private addresses. Default: in development. */
  readonly WEBHOOKS_TO_PRIVATE: Setting<boolean | undefined>;
}

/** Settings of services that send webhooks. */
export const webhookSettings: WebhookSettings = {
  SECRET_KEY: secrets().optional().meta({
    description:
      "Seals the secrets of webhooks in the database. At least 32 characters: openssl rand -hex 32. A new key comes first, with a comma and the old one, which opens what it has sealed.",
  }),
  WEBHOOKS_TO_PRIVATE: yesOrNo()
    .optional()
    .meta({
      description:
        "Whether webhooks may be sent by plain HTTP and to private addresses: yes, or no (the default in production).",
      examples: ["yes"],
    }),
};
