import { administer, DocumentsTypeError, type Store } from "@fetchwork/documents";
import { createJobs, type Jobs } from "@fetchwork/documents/jobs";
import { type Handler, wrap } from "@fetchwork/http";
import {
  type Api,
  type Authentication,
  createApi,
  createAuthentication,
  type Route,
} from "@fetchwork/rest";
import type { Mailer, OpenAccounts } from "@fetchwork/rest/accounts";
import { providerSignIn } from "@fetchwork/rest/accounts/providers";
import type { Sender } from "@fetchwork/webhooks/sender";
import { callServices } from "./call-services.ts";
import type { Service } from "./define-service.ts";
import { ServiceError, StartError } from "./errors.ts";
import { createSignInLimits, type SignInLimits } from "./http/limits.ts";
import { middlewares } from "./http/middlewares.ts";
import type { Log } from "./log/log.ts";
import { createMailer } from "./mail/mailer.ts";
import { MailQueue } from "./mail/queued-mailer.ts";
import { sendsMails } from "./mail/read-mail.ts";
import { migrateAtStart } from "./migrations/migrate-at-start.ts";
import type { ServiceParts } from "./service-parts.ts";
import type { StartSettings } from "./settings/start-settings.ts";
import { createServiceSender } from "./webhooks/service-sender.ts";
import { webhookRoutes } from "./webhooks/webhook-routes.ts";

/** Options of opening a service. */
export interface OpenOptions {
  /** Settings that were read from the environment. */
  readonly settings: StartSettings;
  /** Default: nothing is logged. */
  readonly logs?: Log | undefined;
  /** Sends mails. Default: what the settings say. */
  readonly mailer?: Mailer | undefined;
}

/** A service on a store. */
export interface OpenService extends ServiceParts {
  /** Responds to requests, through all middlewares. */
  readonly handler: Handler;
  readonly openApi: Api["openApi"];
  /** Absent without users. */
  readonly accounts: OpenAccounts | undefined;
  /**
   * Begins what no request waits for: jobs, schedules, mails, webhooks, and with `MIGRATE=start`
   * migrations.
   *
   * @throws StartError for a schedule whose times are wrong or never come, or whose input is
   * refused.
   */
  start(): Promise<void>;
  /**
   * Ends it; what is not done stays queued, and migrations stop between two parts. After `grace`
   * milliseconds, running work is aborted, attempts of webhooks after two seconds at most. Default:
   * `10_000`.
   */
  stop(options?: { readonly grace?: number | undefined }): Promise<void>;
}

/**
 * Puts a service together on a store, for a server and a time of one's own; `runService` does it
 * all.
 *
 * @example
 * ```ts
 * const store = await openStore("sqlite:shop.db", { collections: app.collections });
 * const opened = openService(app, store, { settings: readStartSettings(app, process.env) });
 * await opened.start();
 * export default opened.handler;
 * ```
 */
export function openService(service: Service, store: Store, options: OpenOptions): OpenService {
  const { logs, settings } = options;
  const { config, name, title, version } = service;
  const { jobs: definedJobs = [], receivers = [], resources = [], routes = [] } = service.options;
  const { migrations = [], webhooks } = service.options;
  const limits = createSignInLimits(store, settings);
  const mailer = options.mailer ?? (settings.mail && createMailer(settings.mail));
  const accounts = openAccounts(service, store, { ...options, limits, mailer });
  const { authentication, routes: accountRoutes } = accounts
    ? signInOf(accounts, settings)
    : { authentication: createAuthentication({ masterKey: settings.masterKey }), routes: [] };
  const jobs = createJobs(store, { onError: (error) => logs?.failed(error) });
  const sender = webhooks ? createServiceSender(service, store, { logs, settings }) : undefined;
  const mails = new MailQueue(jobs, sendsMails(config) ? mailer : undefined);
  const parts: ServiceParts = { store, jobs, mailer: mails, sender: sender ?? noSender };
  config.keep(store, settings.values);
  const log = {
    warn: (message: unknown) => logs?.warned(String(message)),
    error: (error: unknown) => logs?.failed(error),
  };
  const received = receivers.flatMap((receiver): Route | [] => {
    const secret = settings.values[receiver.secret];
    if (typeof secret === "string") return receiver.route(parts, secret, log, settings.publicUrl);
    if (settings.isProduction) {
      logs?.warned(`${receiver.secret} is not set, so ${receiver.name} receives no webhooks`);
    }
    return [];
  });
  const api = createApi({
    title,
    version,
    routes: [
      ...accountRoutes,
      ...resources.flat(),
      ...routes,
      ...(sender ? webhookRoutes(sender) : []),
      ...received,
    ],
    reportError: logs?.failed,
    store,
    authentication,
    services: (transaction) => callServices(parts, transaction),
  });
  // It writes, because a store whose disk is full still reads.
  const checks = [{ name: "documents", check: () => administer(store).probe() }];
  const stopping = new AbortController();
  let migrating: Promise<void> | undefined;
  const signIns = limits.requests;
  const layers = middlewares({ ...settings, checks, logs, name, signIns, version });
  return {
    ...parts,
    handler: wrap(api.handler, ...layers, ...(service.options.middlewares ?? [])),
    get openApi() {
      return api.openApi;
    },
    accounts,
    async start() {
      sender?.start();
      accounts?.start();
      mails.start();
      await startJobs(jobs, definedJobs, parts);
      if (!settings.migratesAtStart) return;
      if (migrations.length === 0) {
        logs?.warned("MIGRATE is start, but the service has no migrations: see defineService");
        return;
      }
      const { signal } = stopping;
      const { collections } = service;
      migrating = migrateAtStart(store, { collections, logs, migrations, signal });
    },
    async stop({ grace = 10_000 } = {}) {
      stopping.abort();
      await Promise.all([
        migrating,
        accounts?.stop(),
        // An aborted delivery is sent again, and an endpoint may hang.
        sender?.stop({ grace: Math.min(grace, 2_000) }),
        jobs.close({ grace }),
      ]);
    },
  };
}

/** Begins to work on jobs, and to queue those that have a schedule. */
async function startJobs(
  jobs: Jobs,
  defined: NonNullable<Service["options"]["jobs"]>,
  parts: ServiceParts,
): Promise<void> {
  for (const job of defined) {
    jobs.work(job, (input, run) => job.run(input, { ...run, ...parts }));
    if (job.schedule === undefined) continue;
    try {
      await jobs.schedule(job.name, job, { input: undefined, ...job.schedule });
    } catch (cause) {
      if (!(cause instanceof DocumentsTypeError)) throw cause;
      throw new StartError(`the job ${job.name}: ${cause.message}`, { cause });
    }
  }
}

function openAccounts(
  { options: { accounts }, title }: Service,
  store: Store,
  { limits, logs, mailer, settings }: OpenOptions & { readonly limits: SignInLimits },
): OpenAccounts | undefined {
  const { jwtSecret = "", mail, masterKey, publicUrl, tokenLifetime } = settings;
  return accounts?.open(store, {
    title,
    masterKey,
    jwtSecret,
    tokenLifetime,
    origin: publicUrl,
    mailer,
    linkOrigins: mail?.linkOrigins,
    attempts: limits.passwords,
    mailLimiter: limits.mails,
    signUpLimiter: limits.signUps,
    report: logs?.failed,
  });
}

/** Signing in: with what accounts offer, and with providers where there are any. */
function signInOf(
  accounts: OpenAccounts,
  { jwtSecret: secret = "", providers, publicUrl: origin }: StartSettings,
): { readonly authentication: Authentication; readonly routes: readonly Route[] } {
  const { authentication, routes } = providerSignIn(accounts, { providers, origin, secret });
  return { authentication, routes: [...accounts.routes, ...routes] };
}

/** Stands for the sender of a service without webhooks. */
const noSender: Sender = new Proxy({} as Sender, {
  get() {
    throw new ServiceError("the service sends no webhooks: set `webhooks` of defineService");
  },
});
