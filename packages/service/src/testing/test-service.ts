import { randomUUID } from "node:crypto";
import { mock } from "node:test";
import { openStore, type Store } from "@fetchwork/documents";
import { mockTransport, runHandler } from "@fetchwork/http";
import type { AccountMail } from "@fetchwork/rest/accounts";
import {
  type ApiClient,
  type AuthClient,
  type AuthTokens,
  createClient,
} from "@fetchwork/rest/client";
import type { Fields, InputOf, Resource, Schema } from "@fetchwork/rest";
import { checkOptions } from "../check-options.ts";
import type { Service } from "../define-service.ts";
import { openService, type OpenService } from "../open-service.ts";
import { readStartSettings } from "../settings/start-settings.ts";
import type { BackgroundJob } from "../jobs/background-job.ts";
import { runJob } from "./run-job.ts";
import { createMailBox } from "./mail-box.ts";
import { createSampler } from "./sample.ts";

/** How a service is tested. */
export interface TestServiceOptions {
  /** Settings in addition to the required ones, by the names of their variables. Default: none. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /**
   * Where the documents are; a database is emptied first. Default: what the variable
   * `TEST_DATABASE_URL` says, else in memory.
   */
  readonly databaseUrl?: string | undefined;
}

/** A typed client of the service, with everything of accounts. */
export type TestClient<Types> = ApiClient<{ readonly types?: Types }> & {
  readonly auth: AuthClient<{ readonly types?: Types }>;
};

/** A service that a test holds in its hands. */
export interface TestService<Types = unknown>
  extends
    AsyncDisposable,
    Pick<OpenService, "handler" | "jobs" | "mailer" | "openApi" | "sender" | "store"> {
  /** The key of `MASTER_KEY`. */
  readonly masterKey: string;
  /** A client that is not signed in. */
  readonly client: TestClient<Types>;
  /** Makes a user with a role and a client signed in as it; `"master"` for the key. */
  as(role: "user" | "admin" | "master"): Promise<TestClient<Types>>;
  /**
   * Makes what a client sends to create a document, with the fields that its schema needs; each
   * time with other values. Documents that it refers to are created first, by one admin.
   */
  sample<S extends Schema>(resource: Resource<S>, fields?: Fields): Promise<InputOf<S>>;
  /** Sends a request to a path. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Mails that were sent, oldest first. */
  readonly mails: readonly AccountMail[];
  /** Waits for the next mail to an address; rejects after 5 seconds. */
  nextMail(to: string): Promise<AccountMail>;
  /**
   * Queues a job of the service, and resolves to what its run returned. Rejects with the error of
   * the first attempt that fails, and then does not try again.
   *
   * @param input - Default: that of its schedule.
   * @throws ServiceError for a job that the service does not have.
   */
  runJob<Input, Parsed>(
    job: BackgroundJob<Input, Parsed>,
    input?: NoInfer<Input>,
  ): Promise<unknown>;
  /** Advances the clock, in ms; schedules do not follow, see `runJob`. Closing resets it. */
  advance(milliseconds: number): void;
  /** Ends everything. In Vitest that happens by itself when the test ends. */
  close(): Promise<void>;
}

const secrets = {
  MASTER_KEY: "test-master-key-test-master-key-0",
  JWT_SECRET: "test-jwt-secret-test-jwt-secret-00",
  PUBLIC_URL: "http://localhost",
  SIGN_IN_LIMIT: "0",
  SIGN_IN_FAILURES: "0",
};

/**
 * Opens a service on an empty store, with its jobs running and its mails kept.
 *
 * @example
 * ```ts
 * const service = await testService(app);
 * const ada = await service.as("user");
 * const { data } = await ada.articles.create({ title: "One" });
 * ```
 */
export async function testService<Types>(
  service: Service<Types>,
  options: TestServiceOptions = {},
): Promise<TestService<Types>> {
  checkOptions("testService", options, ["settings", "databaseUrl"]);
  const databaseUrl = options.databaseUrl || process.env["TEST_DATABASE_URL"] || "sqlite::memory:";
  const environment = { ...secrets, ...options.settings };
  const settings = readStartSettings(service, environment, process.cwd());
  const store = await openStore(databaseUrl, { collections: service.collections });
  if (databaseUrl !== "sqlite::memory:") await empty(store, service);
  const box = createMailBox();
  const opened = openService(service, store, { settings, mailer: box.mailer });
  await opened.start();
  const { handler, jobs, mailer, sender } = opened;

  const base = { baseUrl: "http://localhost", transport: mockTransport(opened.handler) };
  const { masterKey } = settings;
  const client = createClient<{ readonly types?: Types }>({ ...base, auth: true });
  const master = createClient({ ...base, token: masterKey }) as TestClient<Types>;

  async function signIn(role: "user" | "admin"): Promise<{ client: object; token: string }> {
    let held: AuthTokens | undefined;
    const tokens = { get: () => held, set: (changed?: AuthTokens) => void (held = changed) };
    const signedIn = createClient({ ...base, auth: { tokens } });
    const user = { email: `${role}-${randomUUID()}@example.com`, password: "test-password" };
    const byMaster = { query: { access_token: masterKey } };
    await signedIn.auth.signUp({ ...user, role }, byMaster);
    await signedIn.auth.signIn(user, byMaster);
    return { client: signedIn, token: held?.token ?? "" };
  }

  const sample = createSampler(opened.handler, {
    user: async () => (await signIn("admin")).token,
    masterKey,
  });
  const test: TestService<Types> = {
    handler,
    jobs,
    mailer,
    sender,
    store,
    get openApi() {
      return opened.openApi;
    },
    masterKey,
    client,
    as: async (role) =>
      role === "master" ? master : ((await signIn(role)).client as TestClient<Types>),
    sample,
    fetch: async (path, init) =>
      runHandler(opened.handler, new Request(new URL(path, base.baseUrl), init)),
    mails: box.mails,
    nextMail: box.next,
    runJob: (job, input) => runJob(service, jobs, job, input),
    advance(milliseconds) {
      const now = Date.now() + milliseconds;
      mock.timers.reset();
      mock.timers.enable({ apis: ["Date"], now });
    },
    async close() {
      mock.timers.reset();
      await opened.stop({ grace: 0 });
      await store.close();
    },
    [Symbol.asyncDispose]: () => test.close(),
  };
  await closeWithTest(() => test.close());
  return test;
}

async function empty(store: Store, { collections }: Pick<Service, "collections">): Promise<void> {
  for (const collection of collections)
    await store.collection(collection).removeMany({ where: {} });
}

/** Closes when the running test ends, where the runner is Vitest. */
async function closeWithTest(close: () => Promise<void>): Promise<void> {
  if (process.env["VITEST"] === undefined) return;
  const { onTestFinished } = await import("vitest");
  try {
    onTestFinished(close);
  } catch {
    // Opened outside of a test, as in `beforeAll`: its caller closes it.
  }
}
