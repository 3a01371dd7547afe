import { setTimeout as wait } from "node:timers/promises";
import type { Administration } from "../../api/administration.ts";
import type { ChangeRecord, ChangesOptions, ConsumeOptions } from "../../api/changes.ts";
import type { Collection } from "../../api/collection.ts";
import type { CollectionDefinition } from "../../api/definition.ts";
import { DocumentsError } from "../../api/errors.ts";
import type { LockOptions } from "../../api/lock.ts";
import type { Migration } from "../../api/migration.ts";
import type { Store, Transaction, TransactionOptions } from "../../api/store.ts";
import type { Loading, Snapshot } from "../../api/transfer.ts";
import { consumeChanges, type ConsumerSource } from "../../changes/consume-changes.ts";
import { tellChanges } from "../../changes/follow-changes.ts";
import { createStamps } from "../../document/stamps.ts";
import { holdLock } from "../../leases/hold-lock.ts";
import { parseTransactionOptions, pauseAfter } from "../../query/transaction-options.ts";
import { checkUtcTime } from "../../query/utc-time.ts";
import { CollectionEntries } from "../../store/collection-entries.ts";
import { type Access, accessThrough, type Answer, answer, attempt } from "./access.ts";
import { Budget, TOO_SLOW } from "./budget.ts";
import type { CareTask } from "./care.ts";
import type { Connection, Row } from "./connection.ts";
import { createSource } from "./consumer-source.ts";
import { trimChanges } from "./feed.ts";
import { migrate } from "./migrating.ts";
import type { QueryTask } from "./query-task.ts";
import type { Reader, Session } from "./session.ts";
import type { SlowReads } from "./slow-reads.ts";
import { SqliteAdministration } from "./sqlite-administration.ts";
import { SqliteCollection } from "./sqlite-collection.ts";
import { SWEEP_BATCH, sweepTable } from "./sweeping.ts";
import { createTable, type Table } from "./table.ts";
import { createLoading, createSnapshot, openBeside } from "./transferring.ts";
import { Writer } from "./writer.ts";

/** The two connections to one file, and what to do after they are closed. */
export interface Connections {
  readonly writer: Connection;
  readonly reader: Connection;
  /** Does a task on the file, away from this thread where another one can open it. */
  care(task: CareTask): Promise<readonly string[]>;
  /** Does reads that take long, where another thread can open the file. */
  readonly slowReads?: SlowReads;
  release(): void;
}

const SWEEP_INTERVAL = 60_000;
const MAX_TIMEOUT = 0x7fff_ffff;

/** A store in one SQLite file. */
export class SqliteStore implements Store, Access {
  readonly #administration: Administration = new SqliteAdministration({
    look: (work) => this.#look(work),
    care: (task) => this.#care(task),
    snapshot: (work) => this.#snapshot(work),
    load: (work) => this.#load(work),
    sweep: () => this.sweep(),
  });
  readonly #connections: Connections;
  readonly #writer: Writer;
  readonly #ready = new Set<Table>();
  readonly #entries = new CollectionEntries((definition) => {
    const table = createTable(definition);
    if (table.expiresAt !== undefined) this.#startSweeping();
    return { table, handle: new SqliteCollection(this, table) };
  });
  readonly #slowReads: SlowReads | undefined;
  readonly #budget: Budget | undefined;
  readonly #own: Reader;
  readonly #committed: Reader;
  readonly #listeners = new Set<() => void>();
  readonly #closed = new AbortController();
  readonly #source: ConsumerSource = createSource(
    { look: (work) => this.#look(work), alter: (work) => this.#alter(work) },
    { closed: this.#closed.signal, listeners: this.#listeners },
  );
  #sweeper: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(connections: Connections, options: { readonly busyTimeout: number }) {
    this.#connections = connections;
    this.#slowReads = connections.slowReads;
    if (this.#slowReads !== undefined) {
      this.#budget = new Budget();
      this.#budget.attach(connections.writer);
      this.#budget.attach(connections.reader);
    }
    const shared = { budget: this.#budget, uncounted: () => 0 };
    this.#own = { ...shared, connection: connections.writer };
    this.#committed = { ...shared, connection: connections.reader };
    this.#writer = new Writer(connections.writer, {
      stamps: createStamps(),
      ready: this.#ready,
      onRecorded: () => {
        for (const listener of this.#listeners) listener();
      },
      busyTimeout: options.busyTimeout,
    });
    this.#slowReads?.makeRoomWith(() => this.#writer.checkpoint());
  }

  /** The care of the store. */
  get administration(): Administration {
    return this.#administration;
  }

  collection<T extends object>(definition: CollectionDefinition<T>): Collection<T> {
    const { handle } = this.#entries.of(definition);
    // Definitions are the same by name and indexes; whether T is too is the word of the caller, as
    // it is for what an earlier process stored.
    return handle as Collection<T>;
  }

  /** Runs the migrations that did not run yet. */
  async migrate(migrations: readonly Migration[]): Promise<void> {
    await migrate(this.#writer, migrations);
  }

  /** Creates what collections need, all in one transaction. */
  async prepare(definitions: readonly CollectionDefinition<object>[]): Promise<void> {
    const tables = definitions.map((definition) => this.#entries.of(definition).table);
    if (tables.length === 0) return;
    await this.#writer.write((session) => {
      session.atomically(() => {
        for (const table of tables) session.run(table, () => undefined);
      });
    });
  }

  read<R>(table: Table, work: (reader: Reader) => R): Promise<R> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    if (!this.#ready.has(table)) return this.#prepareAndRead(table, work);
    return attempt(() => work(this.#reader()));
  }

  async query<R>(table: Table, task: QueryTask, map: (row: Row) => R): Promise<Answer<R>> {
    if (this.#closing !== undefined) throw closed();
    if (!this.#ready.has(table)) await this.write(table, () => undefined);
    try {
      this.#budget?.begin();
      return answer(this.#reader(), table, { task, map });
    } catch (error) {
      if (error !== TOO_SLOW || this.#slowReads === undefined) throw error;
    }
    return this.#slowReads.run({ definition: table.definition, task }, map);
  }

  write<R>(table: Table, work: (session: Session) => R): Promise<R> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    return this.#writer.write((session) => session.run(table, work));
  }

  async transaction<R>(
    work: (transaction: Transaction) => Promise<R> | R,
    options: TransactionOptions = {},
  ): Promise<R> {
    const { timeout, retries = 0 } = parseTransactionOptions(options);
    let hasBegun = false;
    const begin = (transaction: Transaction): Promise<R> | R => {
      hasBegun = true;
      return work(transaction);
    };
    for (let attempt = 0; ; attempt += 1) {
      try {
        if (this.#closing !== undefined) throw closed();
        return await this.#transact(begin, timeout);
      } catch (error) {
        if (hasBegun || attempt >= retries || !isBusyError(error)) throw error;
        await wait(pauseAfter(attempt));
      }
    }
  }

  changes(options: ChangesOptions = {}): AsyncIterable<ChangeRecord> {
    return tellChanges(this.#source, options);
  }

  consume(
    name: string,
    handler: (changes: readonly ChangeRecord[]) => Promise<void> | void,
    options: ConsumeOptions = {},
  ): Promise<void> {
    return consumeChanges(this.#source, { name, handler }, options);
  }

  async trimChanges({ before }: { readonly before: string }): Promise<number> {
    checkUtcTime("before", before);
    return this.#alter((connection) => trimChanges(connection, before));
  }

  lock<R>(
    name: string,
    work: (signal: AbortSignal) => Promise<R> | R,
    options?: LockOptions,
  ): Promise<R> {
    return holdLock(this.#source, name, work, options);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Removes what expired, in batches, so that nobody waits for long. */
  async sweep(): Promise<number> {
    if (this.#closing !== undefined) throw closed();
    let removed = 0;
    for (const { table } of this.#entries.all()) {
      if (table.expiresAt === undefined) continue;
      for (let batch = SWEEP_BATCH; batch === SWEEP_BATCH; removed += batch) {
        batch = await this.write(table, (session) =>
          session.atomically(() => sweepTable(session, table)),
        );
      }
    }
    return removed;
  }

  #transact<R>(work: (transaction: Transaction) => Promise<R> | R, timeout: number): Promise<R> {
    return this.#writer.transaction((session) => {
      const access = accessThrough(session);
      return work({
        collection: <D extends object>(definition: CollectionDefinition<D>) =>
          new SqliteCollection<D>(access, this.#entries.of(definition).table),
      });
    }, timeout);
  }

  async #close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#closed.abort();
    await this.#writer.idle();
    await this.#slowReads?.close();
    this.#connections.reader.close();
    // The last connection brings the write-ahead log into the file.
    this.#connections.writer.close();
    this.#connections.release();
  }

  /** The writing connection has the warmer cache, but while it is busy it shows too much. */
  #reader(): Reader {
    return this.#writer.active ? this.#committed : this.#own;
  }

  async #prepareAndRead<R>(table: Table, work: (reader: Reader) => R): Promise<R> {
    await this.write(table, () => undefined);
    return work(this.#reader());
  }

  /** Reads the store's own tables. */
  #look<R>(work: (connection: Connection) => R): Promise<R> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    return attempt(() => work(this.#reader().connection));
  }

  /** Changes the store's own tables. */
  #alter<R>(work: (connection: Connection) => R): Promise<R> {
    if (this.#closing !== undefined) return Promise.reject(closed());
    return this.#writer.write((session) =>
      session.run(undefined, () => session.atomically(() => work(session.connection))),
    );
  }

  async #care(task: CareTask): Promise<readonly string[]> {
    if (this.#closing !== undefined) throw closed();
    return this.#connections.care(task);
  }

  /** Reads on a connection of its own, so that nobody waits; where there can be none, alone. */
  async #snapshot<R>(work: (snapshot: Snapshot) => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) throw closed();
    const beside = openBeside(this.#connections.reader);
    if (beside === undefined) {
      return this.#writer.transaction(
        (session) => work(createSnapshot(session.connection)),
        MAX_TIMEOUT,
      );
    }
    try {
      beside.exec("BEGIN");
      return await work(createSnapshot(beside));
    } finally {
      beside.close();
    }
  }

  async #load<R>(work: (loading: Loading) => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) throw closed();
    return this.#writer.transaction(
      (session) => work(createLoading(session, (definition) => this.#entries.of(definition).table)),
      MAX_TIMEOUT,
    );
  }

  #startSweeping(): void {
    this.#sweeper ??= setInterval(() => {
      // A failure is met again in a minute; until then expired documents are hidden all the same.
      this.sweep().catch(() => undefined);
    }, SWEEP_INTERVAL).unref();
  }
}

function isBusyError(error: unknown): boolean {
  return error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_BUSY";
}

function closed(): DocumentsError {
  return new DocumentsError("ERR_DOCUMENTS_CLOSED", "The store is closed");
}
