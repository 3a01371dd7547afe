import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import { openStore, type Store, type StoreOptions } from "../src/index.ts";
import { openAnother } from "./another-store.ts";
import { CitusServer, citusUrl } from "./citus-server.ts";
import { openLibsql } from "./libsql-engine.ts";
import { type PgBouncer, startPgBouncer } from "./pgbouncer.ts";
import { connectionOf, postgresVersions, postgresBin, runSqlAgain } from "./postgres-server.ts";
import { SharedServer } from "./shared-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Opens an empty store of one engine, which is closed when the test ends. */
export type Open = (options?: StoreOptions) => Promise<Store>;

const distributedOptions = { postgres: { distributed: true } } as const satisfies StoreOptions;

/** Empties the tables that a store has for documents, changes, claims and locks. */
const emptyTables =
  "DO $$ DECLARE name text; BEGIN FOR name IN SELECT oid::regclass FROM pg_class WHERE " +
  "relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT IN " +
  "('fetchwork:collections', 'fetchwork:search', 'fetchwork:totals', 'fetchwork:state', 'fetchwork:feed-end') LOOP " +
  "EXECUTE 'DELETE FROM ' || name; END LOOP; END $$";

const urlOfStore = new WeakMap<Store, string>();

/** The servers of this worker, by the folder of their programs. */
const sharedServers = new Map<string, SharedServer>();

/** A kind of PostgreSQL that is tested. */
interface PostgresKind {
  readonly name: string;
  /** Lends databases. */
  readonly server: () => Pick<SharedServer, "giveBack" | "take">;
  readonly options: StoreOptions;
}

const [firstVersion] = postgresVersions;
const citus = citusUrl === undefined ? undefined : new CitusServer(citusUrl);

const postgresKinds: readonly PostgresKind[] = [
  ...postgresVersions.map(([name, bin]): PostgresKind => {
    return { name, server: () => serverOf(bin), options: {} };
  }),
  ...(firstVersion === undefined
    ? []
    : [
        {
          name: `${firstVersion[0]}, distributed`,
          server: () => serverOf(firstVersion[1]),
          options: distributedOptions,
        },
      ]),
  ...(citus === undefined
    ? []
    : [{ name: "Citus", server: () => citus, options: distributedOptions }]),
];

/** The engines that `npm test` tests; `npm run test:more` tests the others, and `test:all` all. */
const engineOfFirstTier = /^SQLite in a file$|^PostgreSQL$/;

function ofTier<E extends readonly [name: string, ...unknown[]]>(
  engines: readonly E[],
): readonly E[] {
  const tier = process.env["FETCHWORK_TESTS"];
  if (tier === "all") return engines;
  return engines.filter(([name]) => engineOfFirstTier.test(name) === (tier === undefined));
}

/** The engines that the contract is held against. */
export const allEngines: readonly (readonly [name: string, open: Open])[] = ofTier([
  [
    "SQLite in a file",
    (options) => openAndClose(`sqlite:${join(temporaryFolder(), "a.db")}`, options),
  ],
  ["SQLite in memory", openInMemory],
  ["libSQL, another driver", openOnLibsql],
  ...postgresKinds.map(({ name, server, options: own }): readonly [string, Open] => [
    name,
    async (options) => {
      const postgres = { ...options?.postgres, ...own.postgres };
      return openAndClose(await databaseOf(server()), { ...options, postgres });
    },
  ]),
]);

/**
 * Tells whether an engine finds a field whose name has a double quote: SQLite before 3.47, as
 * libSQL is, does not.
 */
export function findsQuotedNames(engine: string): boolean {
  return !engine.startsWith("libSQL");
}

/** Opens a store in a file of libSQL, which is closed when the test ends. */
async function openOnLibsql(options?: StoreOptions): Promise<Store> {
  const store = await openLibsql(join(temporaryFolder(), "a.db"), options);
  onTestFinished(() => store.close());
  return store;
}

/**
 * Makes an empty database of each engine that several stores can use, and returns what opens one.
 */
export const sharedEngines: readonly (readonly [name: string, create: () => Promise<Open>])[] =
  ofTier([
    ["SQLite in a file", () => Promise.resolve(sharedFile(openAnother))],
    ["libSQL, another driver", () => Promise.resolve(sharedFile(openLibsql))],
    ...postgresKinds.map(
      ({ name, server, options: own }): readonly [string, () => Promise<Open>] => [
        name,
        async () => {
          const url = await databaseOf(server());
          return (options) => openAndClose(url, { ...options, ...own });
        },
      ],
    ),
  ]);

function sharedFile(open: (path: string, options?: StoreOptions) => Promise<Store>): Open {
  const path = join(temporaryFolder(), "a.db");
  return async (options) => {
    const store = await open(path, options);
    onTestFinished(() => store.close());
    return store;
  };
}

/** Opens a store in memory, which is closed when the test ends. */
export function openInMemory(options?: StoreOptions): Promise<Store> {
  return openAndClose("sqlite::memory:", options);
}

/** Opens a store in a new database, which is closed when the test ends. */
export async function openInPostgres(options?: StoreOptions): Promise<Store> {
  return openAndClose(await newDatabase(), options);
}

/**
 * Returns the URL of an empty database of the worker's server, which is emptied when the test ends.
 */
export function newDatabase(bin: string | undefined = postgresBin): Promise<string> {
  return databaseOf(serverOf(bin));
}

/** Makes an empty database of each kind that spreads tables, and returns its URL. */
export const distributedKinds: readonly (readonly [name: string, create: () => Promise<string>])[] =
  postgresKinds
    .filter(({ options }) => options === distributedOptions)
    .map(({ name, server }) => [name, () => databaseOf(server())]);

async function databaseOf(server: Pick<SharedServer, "giveBack" | "take">): Promise<string> {
  const url = await server.take();
  onTestFinished(() => server.giveBack(url));
  return url;
}

/** Returns the URL of a store, unless it is one of SQLite. */
export function postgresUrlOf(store: Store): string | undefined {
  const url = urlOfStore.get(store);
  return url?.startsWith("postgres") === true ? url : undefined;
}

/**
 * Returns the engines with stores that the tests of a file share where opening one takes long: in
 * PostgreSQL `open` returns the same store each time, emptied, with the tables of the tests before.
 * So a name has one definition in all tests of the file, and nobody closes the store; `openNew`
 * opens one for the test alone.
 */
export function enginesOfFile(): readonly (readonly [name: string, open: Open, openNew: Open])[] {
  const stores: EmptiedStore[] = [];
  afterAll(async () => {
    for (const store of stores) await store.close();
  });
  const shared = new Map(
    postgresKinds.map(({ name, server, options }): readonly [string, Open] => {
      const store = new EmptiedStore(server(), options);
      stores.push(store);
      return [name, ({ collections } = {}) => store.open(collections)];
    }),
  );
  return allEngines.map(([name, openNew]) => [name, shared.get(name) ?? openNew, openNew]);
}

/** A store in PostgreSQL that is emptied for each test. */
class EmptiedStore {
  readonly #server: Pick<SharedServer, "giveBack" | "take">;
  readonly #options: StoreOptions;
  #opened: Promise<{ readonly url: string; readonly store: Store }> | undefined;

  constructor(server: Pick<SharedServer, "giveBack" | "take">, options: StoreOptions) {
    this.#server = server;
    this.#options = options;
  }

  async open(collections: StoreOptions["collections"] = []): Promise<Store> {
    const isNew = this.#opened === undefined;
    this.#opened ??= this.#openNew();
    const { url, store } = await this.#opened;
    if (!isNew) await runSqlAgain(url, emptyTables);
    // The first use of a collection creates its table.
    for (const definition of collections) await store.collection(definition).count();
    return store;
  }

  async close(): Promise<void> {
    if (this.#opened === undefined) return;
    const { url, store } = await this.#opened;
    await store.close();
    await this.#server.giveBack(url);
  }

  async #openNew(): Promise<{ readonly url: string; readonly store: Store }> {
    const url = await this.#server.take();
    const store = await openStore(await pooled(url), this.#options);
    urlOfStore.set(store, url);
    return { url, store };
  }
}

function serverOf(bin: string | undefined): SharedServer {
  const server = sharedServers.get(bin ?? "") ?? new SharedServer(bin);
  sharedServers.set(bin ?? "", server);
  return server;
}

/**
 * The pooler of this worker, by hand: `FETCHWORK_PGBOUNCER=transaction npm test --
 * packages/documents/test/contract`.
 */
const poolers = new Map<string, Promise<PgBouncer>>();

/** Returns the URL through a pooler, where one was asked for. */
async function pooled(url: string): Promise<string> {
  const mode = process.env["FETCHWORK_PGBOUNCER"];
  if ((mode !== "session" && mode !== "transaction") || !url.startsWith("postgres")) return url;
  const { host, database } = connectionOf(url);
  const pooler = poolers.get(host) ?? startPgBouncer(url, { mode });
  poolers.set(host, pooler);
  return (await pooler).url(database);
}

async function openAndClose(url: string, options?: StoreOptions): Promise<Store> {
  const store = await openStore(await pooled(url), options);
  urlOfStore.set(store, url);
  onTestFinished(() => store.close());
  return store;
}
