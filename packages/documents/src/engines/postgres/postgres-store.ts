import type { Administration } from "../../api/administration.ts";
import type { ChangeRecord, ChangesOptions, ConsumeOptions } from "../../api/changes.ts";
import type { Collection } from "../../api/collection.ts";
import type { CollectionDefinition } from "../../api/definition.ts";
import { DocumentsError } from "../../api/errors.ts";
import type { LockOptions } from "../../api/lock.ts";
import type { Migration } from "../../api/migration.ts";
import type { Store, Transaction, TransactionOptions } from "../../api/store.ts";
import type { Loading } from "../../api/transfer.ts";
import { consumeChanges, type ConsumerSource } from "../../changes/consume-changes.ts";
import { tellChanges } from "../../changes/follow-changes.ts";
import { createStamps, type Stamps } from "../../document/stamps.ts";
import { holdLock } from "../../leases/hold-lock.ts";
import { parseTransactionOptions } from "../../query/transaction-options.ts";
import { checkUtcTime } from "../../query/utc-time.ts";
import { CollectionEntries } from "../../store/collection-entries.ts";
import { Analyzing } from "./analyzing.ts";
import { createSource } from "./consumer-source.ts";
import { trimChanges } from "./feed.ts";
import { Joining } from "./joining.ts";
import { lockTable } from "./locking.ts";
import { migrate } from "./migrating.ts";
import { PostgresAdministration } from "./postgres-administration.ts";
import { type Access, PostgresCollection } from "./postgres-collection.ts";
import { toDocumentsError } from "./postgres-error.ts";
import { Replicas } from "./replicas.ts";
import { Running } from "./running.ts";
import { prepareTables } from "./schema.ts";
import { closeServers, type Servers } from "./servers.ts";
import { FreeSession, type Session } from "./session.ts";
import { SWEEP_BATCH, sweepTable } from "./sweeping.ts";
import { createTable, type Table } from "./table.ts";
import { Transactions } from "./transactions.ts";
import { atOneMoment, loadTogether } from "./transferring.ts";
import { WakeUp } from "./wake-up.ts";

const SWEEP_INTERVAL = 60_000;
/** The lock of migrations of a distributed store, and for how long it is waited for. */
const MIGRATION_LEASE = "fetchwork:migrations";
const MIGRATION_PATIENCE = 3_600_000;

/** A store in a database of PostgreSQL. */
export class PostgresStore implements Store, Access {
  readonly #servers: Servers;
  readonly #transactions: Transactions;
  readonly #session: Session;
  readonly joining: Joining;
  readonly #analyzing: Analyzing;
  readonly #isDistributed: boolean;
  readonly #replicas: Replicas | undefined;
  readonly #entries = new CollectionEntries((definition) => {
    const table = this.#createTable(definition);
    return { table, handle: new PostgresCollection(this, table) };
  });
  readonly #ready = new Map<Table, Promise<void> | "ready">();
  readonly #running = new Running();
  readonly #wakeUp: WakeUp;
  readonly #closed = new AbortController();
  readonly #source: ConsumerSource = createSource({
    closed: this.#closed.signal,
    listen: (listener) => this.#wakeUp.listen(listener),
    isDistributed: () => this.#isDistributed,
    own: (work) => this.#own(work),
  });
  readonly #sweeping: NodeJS.Timeout;
  #closing: Promise<void> | undefined;

  constructor(servers: Servers, { isDistributed }: { readonly isDistributed: boolean }) {
    const { connections, listening, replicas } = servers;
    const stamps: Stamps = createStamps();
    this.#servers = servers;
    this.#session = new FreeSession(connections, stamps);
    this.joining = new Joining(this.#session);
    this.#analyzing = new Analyzing((statement) => servers.maintenance.readOnce(statement));
    this.#wakeUp = new WakeUp(listening, this.#session);
    this.#replicas = replicas.length === 0 ? undefined : new Replicas(this.#session, replicas);
    this.#isDistributed = isDistributed;
    this.#transactions = new Transactions(connections, {
      stamps,
      locks: isDistributed ? lockTable(this.#session) : undefined,
    });
    this.#sweeping = setInterval(() => {
      // What fails now, for instance in a failover, is done a minute later.
      this.sweep().catch(() => undefined);
    }, SWEEP_INTERVAL);
    this.#sweeping.unref();
  }

  collection<T extends object>(definition: CollectionDefinition<T>): Collection<T> {
    const { handle } = this.#entries.of(definition);
    // Definitions are the same by name and indexes; whether T is too is the word of the caller, as
    // it is for what an earlier process stored.
    return handle as Collection<T>;
  }

  /** Creates the store's own tables. */
  async create(): Promise<void> {
    try {
      await this.#prepareTables([]);
    } catch (error) {
      throw toDocumentsError(error);
    }
  }

  /** Runs the migrations that did not run yet. */
  async migrate(migrations: readonly Migration[]): Promise<void> {
    const run = (): Promise<void> =>
      migrate(this.#transactions, {
        migrations,
        isLocked: this.#isDistributed,
        createTransaction: (session) => {
          // A migration's definitions are those of its time, so they are not those of the store.
          const tables = new Map<CollectionDefinition<object>, Table>();
          return {
            collection: (definition) => {
              const table = tables.get(definition) ?? this.#createTable(definition);
              tables.set(definition, table);
              return this.#bound(session, table);
            },
          };
        },
      });
    await this.#track(() =>
      this.#isDistributed
        ? holdLock(this.#source, MIGRATION_LEASE, run, { wait: MIGRATION_PATIENCE })
        : run(),
    );
  }

  /** Creates what collections need. */
  async prepare(definitions: readonly CollectionDefinition<object>[]): Promise<void> {
    for (const definition of definitions) await this.#prepare(this.#entries.of(definition).table);
  }

  async read<R>(table: Table, work: (session: Session) => Promise<R>, staleness = 0): Promise<R> {
    this.#running.begin();
    try {
      if (this.#ready.get(table) !== "ready") {
        this.#transactions.refuseInside();
        await this.#prepare(table);
      }
      const replicas = staleness > 0 ? this.#replicas : undefined;
      return await work(replicas?.session(staleness) ?? this.#session);
    } catch (error) {
      throw toDocumentsError(error, table);
    } finally {
      this.#running.end();
    }
  }

  async write<R>(table: Table, work: (session: Session) => Promise<R>): Promise<R> {
    this.#running.begin();
    try {
      this.#transactions.refuseInside();
      if (this.#ready.get(table) !== "ready") await this.#prepare(table);
      const result = await work(this.#session);
      if (table.definition.changes !== undefined) this.#wakeUp.announce();
      return result;
    } catch (error) {
      throw toDocumentsError(error, table);
    } finally {
      this.#running.end();
    }
  }

  noteGrowth(table: Table, count: number): void {
    if (!this.#analyzing.note(table, count)) return;
    // Nobody waits for it, and without it statements are slower for a while.
    this.#track(() => this.#analyzing.look(table)).catch(() => undefined);
  }

  async transaction<R>(
    work: (transaction: Transaction) => Promise<R> | R,
    options: TransactionOptions = {},
  ): Promise<R> {
    const parsed = parseTransactionOptions(options);
    return this.#track(async () => {
      if (this.#transactions.inside) {
        throw new DocumentsError(
          "ERR_DOCUMENTS_TRANSACTION",
          "A transaction cannot contain another one",
        );
      }
      const result = await this.#transactions.run(
        (session) =>
          work({
            collection: (definition) => this.#bound(session, this.#entries.of(definition).table),
          }),
        parsed,
      );
      this.#wakeUp.announce();
      return result;
    });
  }

  changes(options: ChangesOptions = {}): AsyncIterable<ChangeRecord> {
    return tellChanges(this.#source, options);
  }

  async consume(
    name: string,
    handler: (changes: readonly ChangeRecord[]) => Promise<void> | void,
    options: ConsumeOptions = {},
  ): Promise<void> {
    this.#transactions.refuseInside();
    await consumeChanges(this.#source, { name, handler }, options);
  }

  async trimChanges({ before }: { readonly before: string }): Promise<number> {
    checkUtcTime("before", before);
    this.#transactions.refuseInside();
    return this.#own((session) => trimChanges(session, before));
  }

  async lock<R>(
    name: string,
    work: (signal: AbortSignal) => Promise<R> | R,
    options?: LockOptions,
  ): Promise<R> {
    this.#transactions.refuseInside();
    return holdLock(this.#source, name, work, options);
  }

  /** Removes the expired documents of the collections in use; gives their number. */
  async sweep(): Promise<number> {
    let removed = 0;
    for (const { table } of this.#entries.all()) {
      if (table.expiresAt === undefined || this.#ready.get(table) !== "ready") continue;
      for (let count = SWEEP_BATCH; count === SWEEP_BATCH; removed += count) {
        count = await this.write(table, (session) => sweepTable(session, table));
      }
    }
    return removed;
  }

  /** The care of the store. */
  get administration(): Administration {
    return new PostgresAdministration({
      isDistributed: this.#isDistributed,
      look: (work) => this.#track(() => atOneMoment(this.#servers.connections, work)),
      load: (work) => this.#load(work),
      sweep: () => this.sweep(),
      createTable: (definition) => this.#createTable(definition),
    });
  }

  close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#closed.abort();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #load<R>(work: (loading: Loading) => Promise<R>): Promise<R> {
    const prepared = async (definition: CollectionDefinition<object>): Promise<Table> => {
      const { table } = this.#entries.of(definition);
      await this.#prepare(table);
      return table;
    };
    const noteGrowth = this.noteGrowth.bind(this);
    return this.#track(() => {
      this.#transactions.refuseInside();
      return loadTogether(this.#session, { prepared, noteGrowth }, work);
    });
  }

  async #close(): Promise<void> {
    await this.#running.close();
    await this.#wakeUp.close();
    await closeServers(this.#servers);
  }

  /** A collection as a transaction sees it. */
  #bound<T extends object>(
    session: Session & { readonly open: boolean },
    bound: Table,
  ): Collection<T> {
    const run = async <R>(table: Table, work: (own: Session) => Promise<R>): Promise<R> => {
      if (!session.open) {
        throw new DocumentsError("ERR_DOCUMENTS_TRANSACTION", "The transaction is over");
      }
      try {
        if (this.#ready.get(table) !== "ready") await this.#prepare(table);
        return await work(session);
      } catch (error) {
        throw toDocumentsError(error, table);
      }
    };
    return new PostgresCollection<T>({ read: run, write: run }, bound);
  }

  #createTable(definition: CollectionDefinition<unknown>): Table {
    return createTable(definition, { isDistributed: this.#isDistributed });
  }

  #prepareTables(tables: readonly Table[]): Promise<void> {
    const own = new FreeSession(this.#servers.maintenance, this.#session.stamps);
    return prepareTables(this.#servers.maintenance, tables, {
      isDistributed: this.#isDistributed,
      locks: lockTable(own),
    });
  }

  /** Works with the store's own tables. */
  #own<R>(work: (session: Session) => Promise<R>): Promise<R> {
    return this.#track(() => work(this.#session));
  }

  /** Prepares a collection once; after a failure, anew. */
  async #prepare(table: Table): Promise<void> {
    const known = this.#ready.get(table);
    if (known === "ready") return;
    const preparing = known ?? this.#prepareNow(table);
    this.#ready.set(table, preparing);
    await preparing;
  }

  async #prepareNow(table: Table): Promise<void> {
    try {
      await this.#prepareTables([table]);
      this.#ready.set(table, "ready");
    } catch (error) {
      this.#ready.delete(table);
      throw toDocumentsError(error, table);
    }
  }

  /** Keeps `close` waiting for what was begun before it. */
  async #track<R>(work: () => Promise<R>): Promise<R> {
    this.#running.begin();
    try {
      return await work();
    } catch (error) {
      throw toDocumentsError(error);
    } finally {
      this.#running.end();
    }
  }
}
