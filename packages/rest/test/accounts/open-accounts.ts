import { createContext, type Handler } from "@fetchwork/http";
import type { Store } from "@fetchwork/documents";
import { onTestFinished } from "vitest";
import { createAttemptLimiter } from "../../src/attempt-limiter.ts";
import {
  accounts,
  type AccountsOptions,
  type AccountsSettings,
} from "../../src/accounts/accounts.ts";
import type { AccountsContext } from "../../src/accounts/accounts-context.ts";
import type { AccountMail } from "../../src/accounts/mails/account-mails.ts";
import { defineUser } from "../../src/accounts/users/define-user.ts";
import { type ApiOptions, createApi } from "../../src/http/api.ts";
import type { OpenApiDocument } from "../../src/openapi/openapi.ts";
import type { Route } from "../../src/plan/route.ts";
import { masterKey, memoryStore } from "../api-client.ts";
import type { Answer } from "../as-users.ts";

export const password = "123456";

/** What a test sends. */
export interface Sent {
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly token?: string | undefined;
  /** Email and password. */
  readonly basic?: readonly [string, string];
  readonly headers?: Readonly<Record<string, string>>;
  readonly ip?: string;
}

/** A user of a test, signed in. */
export interface SignedIn {
  readonly id: string;
  readonly email: string;
  readonly token: string;
  readonly refreshToken: string;
}

/** Accounts on an empty store. */
export interface TestAccounts {
  readonly store: Store;
  readonly context: AccountsContext;
  readonly openApi: OpenApiDocument;
  readonly handler: Handler;
  readonly mails: AccountMail[];
  /** What was reported. */
  readonly reports: unknown[];
  send(method: string, path: string, sent?: Sent): Promise<Answer>;
  /** Creates a user with the master key. */
  create(email: string, role?: "admin" | "user"): Promise<string>;
  /** Creates a user, and signs it in. */
  join(email: string, role?: "admin" | "user"): Promise<SignedIn>;
  signIn(email: string, sent?: Sent): Promise<Answer>;
  /** Waits for the next mail, and finds the token in its link. */
  nextMail(): Promise<AccountMail & { readonly token: string }>;
}

export interface TestOptions extends Partial<AccountsOptions> {
  readonly settings?: Partial<AccountsSettings>;
  readonly routes?: readonly Route[];
  readonly api?: Partial<ApiOptions>;
  /** Default: mails are kept for the test. */
  readonly hasMails?: boolean;
}

/** Opens accounts for one test. */
export async function openAccounts(options: TestOptions = {}): Promise<TestAccounts> {
  const { api = {}, hasMails = true, routes = [], settings = {}, ...given } = options;
  const store = await memoryStore();
  const mails: AccountMail[] = [];
  const reports: unknown[] = [];
  const opened = accounts({ user: defineUser(), ...given }).open(store, {
    masterKey,
    jwtSecret: "j".repeat(32),
    title: "Test",
    origin: "http://localhost",
    attempts: createAttemptLimiter({ limit: 20 }),
    mailLimiter: createAttemptLimiter({ limit: 5 }),
    report: (error) => reports.push(error),
    ...(hasMails ? { mailer: { send: async (mail) => void mails.push(mail) } } : {}),
    ...settings,
  });
  onTestFinished(() => opened.stop());
  const { handler, openApi } = createApi({
    title: "T",
    version: "1",
    store,
    reportError: (error) => reports.push(error),
    ...api,
    authentication: opened.authentication,
    routes: [...opened.routes, ...routes],
  });
  let read = 0;

  async function send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const { basic, form, json, token, ip = "192.0.2.1" } = sent;
    const authorization =
      basic === undefined
        ? token === undefined
          ? undefined
          : `Bearer ${token}`
        : `Basic ${Buffer.from(basic.join(":")).toString("base64")}`;
    const request = new Request(new URL(path, "http://localhost"), {
      method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...sent.headers,
      },
      body: json === undefined ? (form ? new URLSearchParams(form) : null) : JSON.stringify(json),
    });
    const response = await handler(request, Object.assign(createContext(request), { ip }));
    const text = await response.text();
    const { headers, status } = response;
    return { status, headers, json: text === "" ? undefined : JSON.parse(text) };
  }

  async function create(email: string, role: "admin" | "user" = "user"): Promise<string> {
    const { json, status } = await send("POST", "/users", {
      json: { email, password, role },
      token: masterKey,
    });
    if (status !== 201) throw new Error(`no user was created: ${JSON.stringify(json)}`);
    return json.id;
  }

  function signIn(email: string, sent: Sent = {}): Promise<Answer> {
    const path = given.signIn === "public" ? "/auth" : `/auth?access_token=${masterKey}`;
    return send("POST", path, { basic: [email, password], ...sent });
  }

  return {
    store,
    context: opened.context,
    openApi,
    handler,
    mails,
    reports,
    send,
    create,
    signIn,
    async join(email, role) {
      const id = await create(email, role);
      const { json } = await signIn(email);
      return { id, email, token: json.token, refreshToken: json.refreshToken };
    },
    async nextMail() {
      const deadline = Date.now() + 5_000;
      while (mails.length <= read) {
        if (Date.now() > deadline) throw new Error("no mail came");
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const mail = mails[read];
      read += 1;
      if (mail === undefined) throw new Error("no mail came");
      return { ...mail, token: /\/([\w-]{43})$/m.exec(mail.text)?.[1] ?? "" };
    },
  };
}
