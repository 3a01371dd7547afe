import type { CollectionDefinition } from "../../api/definition.ts";
import { optionError } from "../../api/errors.ts";
import type { StoreStatus } from "../../api/migration.ts";
import type { ChangeBatch } from "../../changes/follow-changes.ts";
import { createStamps } from "../../document/stamps.ts";
import { holdLock } from "../../leases/hold-lock.ts";
import type { Begin } from "../dialect.ts";
import type { Engine, Found, SnapshotAccess, TransactionAccess } from "../engine.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Row } from "../operation.ts";
import { type FeedQuery, readChanges } from "../operations/feed.ts";
import { type ReadPlan, selectionOf } from "../operations/find.ts";
import { mayScan } from "../operations/may-scan.ts";
import type { Removal } from "../operations/removal.ts";
import { removeSelected } from "../operations/remove.ts";
import { migrationsTable } from "../own-tables.ts";
import { nestedError } from "../transaction-errors.ts";
import { accessThrough, find, postgresLayout } from "./access-through.ts";
import { atOneMoment } from "./at-one-moment.ts";
import { checkStore } from "./check-store.ts";
import { sqlState, toDocumentsError } from "./connections/postgres-error.ts";
import { runOperation } from "./connections/run-operation.ts";
import { closeServers, type Servers } from "./connections/servers.ts";
import { FreeSession, type Session, sessionOn } from "./connections/session.ts";
import { WakeUp } from "./connections/wake-up.ts";
import { DistributedLayout } from "./distributed/distributed-layout.ts";
import { lockTable } from "./lock-table.ts";
import { readChangesPastGaps } from "./read-changes.ts";
import { Preparing } from "./preparing.ts";
import { Running } from "./running.ts";
import { Upkeep } from "./schema/upkeep.ts";
import { PostgresWriter } from "./statements/dialect.ts";
import { PostgresLayout } from "./statements/layout.ts";
import { SlowReads } from "./slow-reads.ts";
import { readStatus } from "./status.ts";
import { Transactions } from "./transactions.ts";

/** Lock of a distributed store's migrations, and the maximum wait in milliseconds. */
const migrationLock = "fetchwork:migrations";
const migrationTimeout = 3_600_000;
const columnMissing = "42703";

/** A database of PostgreSQL, of which one server at a time is the primary. */
export class PostgresEngine implements Engine {
  readonly isTransaction = false;
  readonly #servers: Servers;
  readonly #isDistributed: boolean;
  readonly #stamps = createStamps();
  readonly #session: Session;
  readonly #transactions: Transactions;
  readonly #upkeep: Upkeep;
  readonly #slowReads = new SlowReads();
  readonly #wakeUp: WakeUp;
  readonly #preparing: Preparing;
  readonly #running = new Running();

  constructor(servers: Servers, { isDistributed }: { readonly isDistributed: boolean }) {
    const { connections, listening, maintenance } = servers;
    this.#servers = servers;
    this.#isDistributed = isDistributed;
    this.#session = new FreeSession(connections);
    const { isPooled } = connections;
    this.#upkeep = new Upkeep((statement) => maintenance.readOnce(statement));
    this.#preparing = new Preparing(maintenance, { isDistributed });
    this.#wakeUp = new WakeUp(isPooled ? undefined : listening, this.#session);
    this.#transactions = new Transactions(connections, {
      locks: isDistributed || isPooled ? lockTable(this.#session) : undefined,
    });
  }

  /** Creates the store's own tables. */
  async create(): Promise<void> {
    await this.#track(() => this.#preparing.createOwnTables());
  }

  layout(definition: CollectionDefinition<unknown>): Layout {
    return this.#isDistributed
      ? new DistributedLayout(definition, this.#stamps)
      : new PostgresLayout(definition, this.#stamps);
  }

  async prepare(layouts: readonly Layout[]): Promise<void> {
    for (const layout of layouts) await this.#preparing.prepare(layout);
  }

  built(): Promise<void> {
    return this.#preparing.building.idle();
  }

  async dropUnused(layouts: readonly Layout[]): Promise<void> {
    await this.prepare(layouts);
    await this.#track(() => this.#preparing.building.dropUnused(layouts.map(postgresLayout)));
  }

  find<R>(layout: Layout, plan: ReadPlan, map: (row: Row) => R): Promise<Found<R>> {
    const read = (): Promise<Found<R>> =>
      this.#read(layout, () => find(this.#session, layout, { plan, map }));
    const isSlow = mayScan(layout, plan) || readsUnindexed(layout, plan);
    return isSlow ? this.#slowReads.run(read) : read();
  }

  remove(layout: Layout, removal: Removal): Promise<number> {
    return this.write(layout, () => removeSelected(layout, removal));
  }

  read<R>(layout: Layout, operation: () => Operation<R>): Promise<R> {
    return this.#read(layout, () => runOperation(this.#session, operation()));
  }

  write<R>(layout: Layout, operation: () => Operation<R>): Promise<R> {
    return this.#write(layout, () => runOperation(this.#session, operation(), this.#onAdded));
  }

  transaction<R>(
    work: (access: TransactionAccess) => Promise<R> | R,
    options: { readonly timeout: number; readonly retries: number | undefined },
  ): Promise<R> {
    return this.#track(async () => {
      if (this.#transactions.inside) throw nestedError();
      const result = await this.#transactions.run(
        (session) => work(accessThrough(session, this.#prepareFor)),
        options,
      );
      this.#wakeUp.announce();
      return result;
    });
  }

  /** The table of migrations is locked before the transaction sees anything. */
  migrate<R>(work: (access: TransactionAccess) => Promise<R>): Promise<R> {
    const migrateOnce = (): Promise<R> =>
      this.#transactions.run(
        async (session) => {
          if (!this.#isDistributed) {
            const text = `LOCK TABLE ${migrationsTable} IN EXCLUSIVE MODE`;
            await session.read({ text, values: [] });
          }
          return work(accessThrough(session, this.#prepareFor));
        },
        { timeout: migrationTimeout },
      );
    return this.#track(() => {
      if (!this.#isDistributed) return migrateOnce();
      const locks = lockTable(this.#session);
      return holdLock(locks, migrationLock, migrateOnce, { wait: migrationTimeout });
    });
  }

  /** Loads without the isolation of transactions, which would keep every row in mind. */
  load<R>(work: (access: TransactionAccess) => Promise<R>): Promise<R> {
    const added = new Map<string, number>();
    const onAdded = (collection: string, count: number): void => {
      added.set(collection, (added.get(collection) ?? 0) + count);
    };
    return this.#track(async () => {
      this.#transactions.refuseInside();
      const result = await this.#session.together((session) => {
        added.clear();
        return work(accessThrough(session, this.#prepareFor, onAdded));
      });
      for (const [collection, count] of added) this.#onAdded(collection, count);
      return result;
    });
  }

  snapshot<R>(work: (access: SnapshotAccess) => Promise<R>): Promise<R> {
    return this.#track(() =>
      atOneMoment(this.#servers.connections, (client) => {
        const session = sessionOn(client);
        return work({
          own: (operation) => runOperation(session, operation(beginOwn)),
          hasColumn: () => Promise.resolve(true),
        });
      }),
    );
  }

  readOwn<R>(operation: (begin: Begin) => Operation<R>): Promise<R> {
    return this.#track(() => runOperation(this.#session, operation(beginOwn)));
  }

  writeOwn<R>(operation: (begin: Begin) => Operation<R>): Promise<R> {
    return this.#track(() => {
      this.#transactions.refuseInside();
      return runOperation(this.#session, operation(beginOwn));
    });
  }

  /** In a distributed store positions are in the order of the commits, so nothing comes later. */
  readChanges(query: FeedQuery): Promise<ChangeBatch> {
    if (this.#isDistributed) return this.readOwn((begin) => readChanges(begin, query));
    return this.#track(() => readChangesPastGaps(this.#session, query));
  }

  onRecorded(listener: () => void): () => void {
    return this.#wakeUp.listen(listener);
  }

  status(begin: Begin): Operation<StoreStatus> {
    return readStatus(begin);
  }

  check(): Promise<readonly string[]> {
    const isDistributed = this.#isDistributed;
    return this.#track(() =>
      atOneMoment(this.#servers.connections, (client) => checkStore(client, { isDistributed })),
    );
  }

  backup(): Promise<void> {
    return Promise.reject(
      optionError(
        '"backup" only writes files of SQLite, expected `fetchwork db backup` or pg_dump for PostgreSQL',
      ),
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.#preparing.building.close(), this.#running.close()]);
    await this.#wakeUp.close();
    await closeServers(this.#servers);
  }

  readonly #onAdded = (collection: string, count: number): void => {
    if (count <= 0) return;
    // Nobody waits for it, and without it statements are slower for a while.
    for (const work of this.#upkeep.recordInserts(collection, count)) {
      this.#track(work).catch(() => undefined);
    }
  };

  readonly #prepareFor = async (layout: Layout): Promise<void> => {
    if (!this.#preparing.isReady(layout)) await this.#preparing.prepare(layout);
  };

  async #read<R>(layout: Layout, work: () => Promise<R>): Promise<R> {
    this.#running.begin();
    try {
      if (!this.#preparing.isReady(layout)) {
        this.#transactions.refuseInside();
        await this.#preparing.prepare(layout);
      }
      return await work();
    } catch (error) {
      throw toDocumentsError(error, postgresLayout(layout));
    } finally {
      this.#running.end();
    }
  }

  async #write<R>(layout: Layout, work: () => Promise<R>): Promise<R> {
    this.#running.begin();
    try {
      this.#transactions.refuseInside();
      if (!this.#preparing.isReady(layout)) await this.#preparing.prepare(layout);
      const result = await work();
      if (layout.definition.changes !== undefined) this.#wakeUp.announce();
      return result;
    } catch (error) {
      // Another program dropped search texts that this one still keeps up to date.
      if (sqlState(error) === columnMissing) this.#preparing.forget(layout);
      throw toDocumentsError(error, postgresLayout(layout));
    } finally {
      this.#running.end();
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

/** Whether a search reads documents because its texts are still being built. */
function readsUnindexed(layout: Layout, plan: ReadPlan): boolean {
  const { words = [] } = selectionOf(plan) ?? {};
  return words.length > 0 && postgresLayout(layout).search.own?.isBuilt === false;
}

function beginOwn(): PostgresWriter {
  return new PostgresWriter();
}
