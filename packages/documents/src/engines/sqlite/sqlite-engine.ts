import { setTimeout as wait } from "node:timers/promises";
import type { CollectionDefinition } from "../../api/definition.ts";
import type { StoreStatus } from "../../api/migration.ts";
import type { ChangeBatch } from "../../changes/follow-changes.ts";
import { createStamps } from "../../document/stamps.ts";
import { pauseAfter } from "../../query/transaction-options.ts";
import { closedError, hasCode } from "../../api/errors.ts";
import type { Begin } from "../dialect.ts";
import type { Engine, Found, SnapshotAccess, TransactionAccess } from "../engine.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import { type FeedQuery, readChanges } from "../operations/feed.ts";
import { type ReadPlan, readPlanned } from "../operations/find.ts";
import type { Removal } from "../operations/removal.ts";
import {
  accessThrough,
  attempt,
  beginOwn,
  snapshotThrough,
  sqliteLayout,
} from "./access-through.ts";
import { Building } from "./building.ts";
import { Budget, tooSlow } from "./connection/budget.ts";
import type { Connection } from "./connection/connection.ts";
import { runReading } from "./connection/run-operation.ts";
import type { Connections } from "./connections.ts";
import { writeWhole } from "./file/backup.ts";
import { removeInParts } from "./remove-in-parts.ts";
import { buildsMuch } from "./schema/prepare-collection.ts";
import type { Session } from "./session.ts";
import { SqliteLayout } from "./statements/layout.ts";
import { UnregisteredError } from "./statements/search-texts.ts";
import type { SlowReads } from "./threads/slow-reads.ts";
import { readStatus } from "./status.ts";
import { Writer } from "./writer.ts";

const maxTimeout = 0x7fff_ffff;
const migrationTimeout = 3_600_000;
/** With pauses of up to 100 ms, as many as an hour has at least. */
const migrationRetries = 36_000;

/** A database in one SQLite file: one connection writes, threads do slow reads. */
export class SqliteEngine implements Engine {
  readonly isTransaction = false;
  readonly #connections: Connections;
  readonly #writer: Writer;
  readonly #stamps = createStamps();
  readonly #ready = new Set<Layout>();
  readonly #slowReads: SlowReads | undefined;
  readonly #budget: Budget | undefined;
  readonly #listeners = new Set<() => void>();
  readonly #building: Building;
  #isClosing = false;

  constructor(connections: Connections, options: { readonly busyTimeout: number }) {
    this.#connections = connections;
    this.#slowReads = connections.slowReads;
    if (this.#slowReads !== undefined) {
      this.#budget = new Budget();
      this.#budget.attach(connections.writer);
      this.#budget.attach(connections.reader);
    }
    this.#writer = new Writer(connections.writer, {
      ready: this.#ready,
      seen: new Map(),
      onRecorded: () => {
        for (const listener of this.#listeners) listener();
      },
      onUnbuilt: (layout) => this.#building.start(layout),
      onPrepared: (layout) => this.#building.keep(layout),
      busyTimeout: options.busyTimeout,
    });
    this.#building = new Building((work) => this.#write(work), connections.buildAway, options);
    this.#slowReads?.makeRoomWith(() => this.#writer.checkpoint());
  }

  layout(definition: CollectionDefinition<unknown>): Layout {
    return new SqliteLayout(definition, this.#stamps, this.#budget);
  }

  /** Prepares all in one transaction. */
  async prepare(layouts: readonly Layout[]): Promise<void> {
    if (layouts.length === 0) return;
    const prepared = layouts.map(sqliteLayout);
    this.#refuseClosed();
    if (prepared.some((layout) => buildsMuch(this.#reader(), layout))) {
      await this.#writer.withoutChanges(() => this.#building.prepareAway(prepared));
    }
    await this.#write((session) => {
      session.atomically(() => {
        for (const layout of prepared) session.prepare(layout);
      });
    });
  }

  built(): Promise<void> {
    return this.#building.finish([...this.#ready].map(sqliteLayout));
  }

  async dropUnused(layouts: readonly Layout[]): Promise<void> {
    for (const layout of layouts)
      await this.#write((session) => session.dropUnused(sqliteLayout(layout)));
  }

  read<R>(layout: Layout, operation: () => Operation<R>): Promise<R> {
    return this.#readNow(layout, () => runReading(this.#reader(), operation()));
  }

  find<R>(layout: Layout, plan: ReadPlan, map: (row: Row) => R): Promise<Found<R>> {
    return this.#readNow(layout, () => {
      try {
        return this.#find(layout, plan, map);
      } catch (error) {
        if (!(error instanceof UnregisteredError)) throw error;
        return this.prepare([layout]).then(() => this.#find(layout, plan, map));
      }
    });
  }

  #find<R>(layout: Layout, plan: ReadPlan, map: (row: Row) => R): Found<R> | Promise<Found<R>> {
    const budget = this.#budget;
    try {
      budget?.begin();
      const { rows, ...extent } = runReading(this.#reader(), readPlanned(layout, plan), (text) =>
        budget?.check(text),
      );
      return { items: rows.map(map), ...extent };
    } catch (error) {
      if (error !== tooSlow || this.#slowReads === undefined) throw error;
    } finally {
      budget?.end();
    }
    return this.#slowReads.run({ definition: layout.definition, plan }, map);
  }

  remove(layout: Layout, removal: Removal): Promise<number> {
    return removeInParts(this, { layout: sqliteLayout(layout), removal, budget: this.#budget });
  }

  async write<R>(layout: Layout, operation: () => Operation<R>): Promise<R> {
    const prepared = sqliteLayout(layout);
    if (!this.#ready.has(layout)) await this.prepare([layout]);
    return this.#write((session) => session.run(prepared, operation));
  }

  /** Retries only while another process writes, before the work began. */
  async transaction<R>(
    work: (access: TransactionAccess) => Promise<R> | R,
    { timeout, retries = 0 }: { readonly timeout: number; readonly retries: number | undefined },
  ): Promise<R> {
    let hasBegun = false;
    for (let attempt = 0; ; attempt += 1) {
      try {
        this.#refuseClosed();
        return await this.#writer.transaction((session) => {
          hasBegun = true;
          return work(accessThrough(session));
        }, timeout);
      } catch (error) {
        if (hasBegun || attempt >= retries || !hasCode(error, "ERR_DOCUMENTS_BUSY")) throw error;
        await wait(pauseAfter(attempt));
      }
    }
  }

  /** Waits while another process migrates. */
  migrate<R>(work: (access: TransactionAccess) => Promise<R>): Promise<R> {
    return this.transaction(work, { timeout: migrationTimeout, retries: migrationRetries });
  }

  async load<R>(work: (access: TransactionAccess) => Promise<R>): Promise<R> {
    this.#refuseClosed();
    return this.#writer.transaction((session) => work(accessThrough(session)), maxTimeout);
  }

  /** Reads on another connection, so that nobody waits; where there can be none, alone. */
  async snapshot<R>(work: (access: SnapshotAccess) => Promise<R>): Promise<R> {
    this.#refuseClosed();
    const another = this.#connections.openReader?.();
    if (another === undefined) {
      return this.#writer.transaction(
        (session) => work(snapshotThrough(session.connection)),
        maxTimeout,
      );
    }
    try {
      another.exec("BEGIN");
      return await work(snapshotThrough(another));
    } finally {
      another.close();
    }
  }

  readOwn<R>(operation: (begin: Begin) => Operation<R>): Promise<R> {
    return attempt(() => {
      this.#refuseClosed();
      return runReading(this.#reader(), operation(beginOwn));
    });
  }

  writeOwn<R>(operation: (begin: Begin) => Operation<R>): Promise<R> {
    return this.#write((session) =>
      session.atomically(() => session.run(undefined, () => operation(beginOwn))),
    );
  }

  readChanges(query: FeedQuery): Promise<ChangeBatch> {
    return this.readOwn((begin) => readChanges(begin, query));
  }

  onRecorded(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  status(begin: Begin): Operation<StoreStatus> {
    return readStatus(begin);
  }

  async check(): Promise<readonly string[]> {
    this.#refuseClosed();
    return this.#connections.maintain({ kind: "check" });
  }

  backup(path: string): Promise<void> {
    return writeWhole(path, async (to) => {
      this.#refuseClosed();
      await this.#connections.maintain({ kind: "backup", to });
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#building.close();
    await this.#writer.idle();
    await this.#slowReads?.close();
    this.#connections.reader.close();
    // The last connection brings the write-ahead log into the file.
    this.#connections.writer.close();
    this.#connections.release();
  }

  #readNow<R>(layout: Layout, work: () => Promise<R> | R): Promise<R> {
    if (!this.#isClosing && !this.#ready.has(layout)) return this.prepare([layout]).then<R>(work);
    return attempt<R>(() => {
      this.#refuseClosed();
      return work();
    });
  }

  #write<R>(work: (session: Session) => R): Promise<R> {
    if (this.#isClosing) return Promise.reject(closedError());
    return this.#writer.write(work);
  }

  /** The writing connection has the warmer cache, but while it is busy it shows too much. */
  #reader(): Connection {
    return this.#writer.isActive ? this.#connections.reader : this.#connections.writer;
  }

  #refuseClosed(): void {
    if (this.#isClosing) throw closedError();
  }
}
