import type { Administration } from "../api/administration.ts";
import type { ChangeRecord, ChangesOptions, ConsumeOptions } from "../api/changes.ts";
import type { Collection } from "../api/collection.ts";
import { checkOptions } from "../api/check-options.ts";
import { checkDefinition, type CollectionDefinition, sameDefinition } from "../api/definition.ts";
import { closedError, definitionError } from "../api/errors.ts";
import type { LockOptions } from "../api/lock.ts";
import type { Migration } from "../api/migration.ts";
import type { Store, StoreOptions } from "../api/store.ts";
import type { Transaction, TransactionOptions } from "../api/transaction.ts";
import { consumeChanges, type ConsumerSource } from "../changes/consume-changes.ts";
import { streamChanges } from "../changes/follow-changes.ts";
import type { Engine, TransactionAccess } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import { loadPosition, savePosition, trimChanges } from "../engines/operations/feed.ts";
import { releaseLock, renewLock, takeLock } from "../engines/operations/locks.ts";
import { removeExpired, sweepBatch } from "../engines/operations/sweep.ts";
import { holdLock } from "../leases/hold-lock.ts";
import { parseTransactionOptions } from "../query/transaction-options.ts";
import { checkUtcTime } from "../query/parse-many.ts";
import { DocumentCollection } from "./document-collection.ts";
import { type ObserveQuery, observeQueries } from "./observe-queries.ts";
import { runMigrations } from "./run-migrations.ts";
import { createAdministration } from "./store-administration.ts";

const sweepInterval = 60_000;

/** A collection in use. */
interface Entry {
  readonly layout: Layout;
  readonly collection: unknown;
}

/** A store on an engine. */
export class DocumentStore implements Store {
  readonly #engine: Engine;
  readonly #entries = new Map<string, Entry>();
  readonly #closed = new AbortController();
  readonly #source: ConsumerSource;
  readonly #administration: Administration;
  readonly #observe: ObserveQuery | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(engine: Engine, { onUnindexedQuery }: Pick<StoreOptions, "onUnindexedQuery"> = {}) {
    this.#engine = engine;
    this.#observe = onUnindexedQuery && observeQueries(onUnindexedQuery);
    this.#source = sourceOf(engine, this.#closed.signal);
    this.#administration = createAdministration(engine, {
      layoutOf: (definition) => this.#entryOf(definition).layout,
      layoutNamed: (name) => this.#layoutNamed(name),
      sweep: () => this.sweep(),
    });
  }

  /** The care of the store; see `administer`. */
  get administration(): Administration {
    return this.#administration;
  }

  collection<T extends object>(definition: CollectionDefinition<T>): Collection<T> {
    const { collection } = this.#entryOf(definition);
    // Definitions are the same by name and indexes; whether T is too is the word of the caller, as
    // it is for what an earlier process stored.
    return collection as Collection<T>;
  }

  /** Runs the migrations that did not run yet. */
  async migrate(migrations: readonly Migration[]): Promise<void> {
    await runMigrations(this.#engine, migrations);
  }

  /** Creates what collections need. */
  async prepare(definitions: readonly CollectionDefinition<object>[]): Promise<void> {
    await this.#engine.prepare(definitions.map((definition) => this.#entryOf(definition).layout));
  }

  async transaction<R>(
    work: (transaction: Transaction) => Promise<R> | R,
    options: TransactionOptions = {},
  ): Promise<R> {
    const parsed = parseTransactionOptions(options);
    return this.#engine.transaction((access) => work(this.#transactionThrough(access)), parsed);
  }

  changes(options: ChangesOptions = {}): AsyncIterable<ChangeRecord> {
    return streamChanges(this.#source, options);
  }

  consume(
    name: string,
    handler: (changes: readonly ChangeRecord[]) => Promise<void> | void,
    options: ConsumeOptions = {},
  ): Promise<void> {
    return consumeChanges(this.#source, { name, handler }, options);
  }

  async trimChanges(selection: { readonly before: string }): Promise<number> {
    checkOptions("trimChanges", selection, ["before"]);
    checkUtcTime("before", selection.before);
    return this.#engine.writeOwn((begin) => trimChanges(begin, selection.before));
  }

  lock<R>(
    name: string,
    work: (signal: AbortSignal) => Promise<R> | R,
    options?: LockOptions,
  ): Promise<R> {
    return holdLock(this.#source, name, work, options);
  }

  /** Removes expired documents, in batches, so that nobody waits for long; returns their number. */
  async sweep(): Promise<number> {
    if (this.#closing !== undefined) throw closedError();
    let removed = 0;
    for (const { layout } of this.#entries.values()) {
      if (layout.expiresAt === undefined) continue;
      for (let count = sweepBatch; count === sweepBatch; removed += count) {
        count = await this.#engine.write(layout, () => removeExpired(layout));
      }
    }
    return removed;
  }

  close(): Promise<void> {
    clearInterval(this.#sweeper);
    this.#closed.abort();
    this.#closing ??= this.#engine.close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #transactionThrough(access: TransactionAccess): Transaction {
    return {
      collection: <T extends object>(definition: CollectionDefinition<T>): Collection<T> =>
        new DocumentCollection<T>(access, this.#entryOf(definition).layout, this.#observe),
    };
  }

  /**
   * Finds a collection, or takes it into use.
   *
   * @throws {DocumentsTypeError} `ERR_DOCUMENTS_DEFINITION` when it is in use with another
   * definition.
   */
  #entryOf(definition: CollectionDefinition<object>): Entry {
    checkDefinition(definition);
    const known = this.#entries.get(definition.name);
    if (known === undefined) {
      const layout = this.#engine.layout(definition);
      const collection = new DocumentCollection<object>(this.#engine, layout, this.#observe);
      const entry = { layout, collection };
      this.#entries.set(definition.name, entry);
      if (layout.expiresAt !== undefined) this.#startSweeping();
      return entry;
    }
    if (sameDefinition(known.layout.definition, definition)) return known;
    throw definitionError(`the collection "${definition.name}" is in use with another definition`);
  }

  #layoutNamed(name: string): Layout {
    const known = this.#entries.get(name);
    if (known !== undefined) return known.layout;
    throw definitionError(
      `unknown collection "${name}", expected a definition or a collection of this store`,
    );
  }

  #startSweeping(): void {
    this.#sweeper ??= setInterval(() => {
      // A failure is met again in a minute; until then expired documents are hidden all the same.
      this.sweep().catch(() => undefined);
    }, sweepInterval).unref();
  }
}

/** Makes the source that consumers of the feed and holders of locks need. */
function sourceOf(engine: Engine, closed: AbortSignal): ConsumerSource {
  return {
    closed,
    readChanges: (query) => engine.readChanges(query),
    onRecorded: (listener) => engine.onRecorded(listener),
    loadPosition: (name) => engine.readOwn((begin) => loadPosition(begin, name)),
    savePosition: (name, position) =>
      engine.writeOwn((begin) => savePosition(begin, name, position)),
    takeLock: (lock) => engine.writeOwn((begin) => takeLock(begin(), lock)),
    renewLock: (lock) => engine.writeOwn((begin) => renewLock(begin(), lock)),
    releaseLock: (lock) => engine.writeOwn((begin) => releaseLock(begin(), lock)),
  };
}
