import type { CollectionDefinition } from "@fetchwork/documents";
import type { Middleware } from "@fetchwork/http";
import { jobCollections } from "@fetchwork/documents/jobs";
import {
  attemptCollection,
  idempotencyCollection,
  rateLimitCollection,
  type Resource,
  type Route,
} from "@fetchwork/rest";
import type { Accounts } from "@fetchwork/rest/accounts";
import { senderCollections } from "@fetchwork/webhooks/sender";
import { checkOptions } from "./check-options.ts";
import { ServiceError } from "./errors.ts";
import { mailJobName } from "./mail/queued-mailer.ts";
import { sendsMails } from "./mail/read-mail.ts";
import type { AnyBackgroundJob } from "./jobs/background-job.ts";
import { receivedDeliveries, type Receiver } from "./receivers/define-receiver.ts";
import { type DocumentMigration, isMigration } from "./migrations/document-migration.ts";
import type { Config, SettingsShape } from "./settings/define-config.ts";
import type { ServerSettings } from "./settings/service-settings.ts";
import type { WebhookRoute } from "./webhooks/webhook-routes.ts";

/** Parts of a service. */
export interface ServiceOptions {
  /** Name of the service, its database and its webhooks: lower-case letters, digits, hyphens. */
  readonly name: string;
  /** Name for people. Default: `name`. */
  readonly title?: string | undefined;
  /** Version of the API. Default: `"1.0.0"`. */
  readonly version?: string | undefined;
  /** Its settings: at least `serverSettings`, and `accountSettings` with `accounts`. */
  readonly config: Config<SettingsShape & ServerSettings>;
  /** Users and how they sign in, made by `accounts`. Default: none, only the master key. */
  readonly accounts?: Accounts | undefined;
  /** Routes of each resource, as `resourceRoutes` makes them. Default: none. */
  readonly resources?: readonly (readonly Route[])[] | undefined;
  /** Routes of your own, as `defineRoute` makes them. Default: none. */
  readonly routes?: readonly Route[] | undefined;
  /** Middlewares around the API, inside those of the service. Default: none. */
  readonly middlewares?: readonly Middleware[] | undefined;
  /** Work that no request waits for. Default: nothing. */
  readonly jobs?: readonly AnyBackgroundJob[] | undefined;
  /** Receivers of webhooks from other platforms. Default: none. */
  readonly receivers?: readonly Receiver[] | undefined;
  /**
   * Changes of stored documents, as `src/migrations/index.ts` exports them. With `MIGRATE=start` a
   * process that starts runs those that did not run. Default: none.
   */
  readonly migrations?: readonly DocumentMigration[] | undefined;
  /**
   * Whether admins subscribe endpoints to webhooks: of changes of all resources with `changes:
   * "documents"`, and of the `events` that the service sends itself. Default: `false`.
   */
  readonly webhooks?: boolean | { readonly events: readonly string[] } | undefined;
}

/** A service that can be run and tested. */
export interface Service<Types = unknown> {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly config: Config;
  /** Collections of the service's store, also for `fetchwork db`. */
  readonly collections: readonly CollectionDefinition<object>[];
  /** Its resources, users first. */
  readonly resources: readonly Resource[];
  readonly options: ServiceOptions;
  /** Never set: carries what `createClient<typeof app>` knows. */
  readonly types?: Types | undefined;
}

/** Types of a service's routes, for the typed client. */
export type ServiceTypes<Options extends ServiceOptions> = TypesOf<
  | InLists<Options["resources"]>
  | In<Options["routes"]>
  | In<ReturnType<Extract<Options["accounts"], Accounts>["open"]>["routes"]>
  | (Options["webhooks"] extends true | object ? WebhookRoute : never)
>;

type In<List> = List extends readonly (infer One)[] ? One : never;
type InLists<Lists> = In<In<Lists>>;
type TypesOf<One> = One extends { readonly types?: infer Types }
  ? Exclude<Types, undefined>
  : never;

/**
 * Defines a service: what it stores, serves and does. `runService` runs it, `testService` tests it.
 *
 * @throws ServiceError for options that do not exist or do not fit together.
 *
 * @example
 * ```ts
 * export const app = defineService({
 *   name: "blog",
 *   config: defineConfig({ ...serverSettings, ...accountSettings }),
 *   accounts: accounts({ user: defineUser() }),
 *   resources: [resourceRoutes(article)],
 * });
 * ```
 */
export function defineService<const Options extends ServiceOptions>(
  options: Options,
): Service<ServiceTypes<Options>> {
  checkOptions("defineService", options, [
    "name",
    "title",
    "version",
    "config",
    "accounts",
    "resources",
    "routes",
    "middlewares",
    "jobs",
    "receivers",
    "migrations",
    "webhooks",
  ]);
  const { accounts, config, jobs = [], name, receivers = [], webhooks = false } = options;
  if (typeof webhooks === "object") checkOptions("webhooks", webhooks, ["events"]);
  requireMigrations(options.migrations ?? []);
  const jobNames = jobs.map((job) => job.name);
  const own = jobNames.find((job) => ["account-mail", mailJobName, "webhook-event"].includes(job));
  if (own !== undefined) throw new ServiceError(`a job is called ${own}, as one of the service is`);
  const twice = jobNames.find((job, index) => jobNames.indexOf(job) !== index);
  if (twice !== undefined) throw new ServiceError(`two jobs are called ${twice}`);
  if (!/^[a-z][a-z\d]*(?:-[a-z\d]+)*$/.test(name)) {
    const expected = "lower-case letters, digits and hyphens";
    throw new ServiceError(`name must be ${expected}, got ${JSON.stringify(name)}`);
  }
  if (webhooks !== false && accounts === undefined) {
    throw new ServiceError("webhooks need accounts, because admins manage the endpoints");
  }
  const needed = ["MASTER_KEY", ...(accounts ? ["JWT_SECRET"] : [])];
  const missing = needed.filter((setting) => !Object.hasOwn(config.shape, setting));
  if (missing.length > 0) throw new ServiceError(`config lacks ${missing.join(" and ")}`);

  const resources = resourcesOf(options);
  const hasJobs = accounts || webhooks || jobs.length > 0 || sendsMails(config);
  const collections: readonly (readonly CollectionDefinition<object>[])[] = [
    resources.map(({ collection }) => collection),
    [idempotencyCollection],
    accounts ? [...accounts.collections, attemptCollection, rateLimitCollection] : [],
    hasJobs ? Object.values(jobCollections) : [],
    webhooks ? Object.values(senderCollections) : [],
    receivers.length > 0 ? [receivedDeliveries] : [],
  ];
  return {
    name,
    title: options.title ?? name,
    version: options.version ?? "1.0.0",
    config,
    collections: collections.flat(),
    resources,
    options,
  };
}

/** Refuses what is not a list of migrations, and two with the same number. */
function requireMigrations(migrations: readonly DocumentMigration[]): void {
  if (!Array.isArray(migrations) || !migrations.every(isMigration)) {
    const expected = "an id from 1, a name of 1 to 200 characters and changes";
    throw new ServiceError(`migrations must be a list, each with ${expected}`);
  }
  const ids = migrations.map(({ id }) => id);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice !== undefined) throw new ServiceError(`two migrations have the id ${twice}`);
}

/** The resources that routes belong to, each once. */
function resourcesOf({ accounts, resources = [], routes = [] }: ServiceOptions): Resource[] {
  const all = [...resources.flat(), ...routes].flatMap(({ resource }) => resource ?? []);
  const users: readonly Resource[] = accounts ? [accounts.user] : [];
  return [...new Set([...users, ...all])];
}
