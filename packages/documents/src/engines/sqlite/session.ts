import type { DocumentsError } from "../../api/errors.ts";
import type { Layout } from "../layout.ts";
import { noResult, type Operation, type Result, type Step } from "../operation.ts";
import { registryTable } from "../own-tables.ts";
import { overError } from "../transaction-errors.ts";
import type { Cell, Connection } from "./connection/connection.ts";
import { readTotal, runOperation, runStatement } from "./connection/run-operation.ts";
import { isEngineFailure } from "./connection/sqlite-error.ts";
import { builtMembers, dropUnusedIndexes, prepareCollection } from "./schema/prepare-collection.ts";
import {
  dropOtherGenerations,
  hasSearchWork,
  readGenerations,
  touchGeneration,
  workOnSearch,
} from "./schema/search-generations.ts";
import type { SqliteLayout } from "./statements/layout.ts";

/** State that the sessions of a store share. */
export interface SessionContext {
  /** Collections that are prepared. */
  readonly ready: Set<Layout>;
  /** Version of the file, by other connections, when generations were last read. */
  readonly seen: Map<Layout, Cell>;
  /** Is called when a commit brought records into the change feed. */
  readonly onRecorded: () => void;
  /** Called for each collection that a commit prepared with incomplete search texts. */
  readonly onUnbuilt: (layout: SqliteLayout) => void;
  /** Is called for each collection that a commit prepared. */
  readonly onPrepared: (layout: SqliteLayout) => void;
}

/** Time for which a part of a build holds up the event loop, in milliseconds. */
const buildTime = 10;

/** The work of one turn in a transaction of the writing connection. */
export class Session {
  readonly connection: Connection;
  readonly #context: SessionContext;
  /** Collections that this transaction prepared. */
  readonly #prepared = new Set<SqliteLayout>();
  readonly #unbuilt = new Set<SqliteLayout>();
  /** Collections of which this transaction knows the generations of search texts. */
  readonly #current = new Set<SqliteLayout>();
  /** Documents added to collections that the registry does not count yet. */
  readonly #uncounted = new Map<string, number>();
  #state: Cell | undefined;
  #hasRecorded = false;
  #failure: DocumentsError | undefined;
  #isOpen = true;

  constructor(connection: Connection, context: SessionContext) {
    this.connection = connection;
    this.#context = context;
  }

  /** Whether the session still accepts work. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The failure of the engine that ended its transaction. */
  get failure(): DocumentsError | undefined {
    return this.#failure;
  }

  /** Runs an operation on a collection, which is prepared first, or on the store's own tables. */
  run<R>(layout: SqliteLayout | undefined, operation: () => Operation<R>): R {
    return this.#guard(() => {
      if (layout !== undefined) this.#prepare(layout);
      return this.#run(operation());
    });
  }

  /** Prepares a collection, if nobody did. */
  prepare(layout: SqliteLayout): void {
    this.#guard(() => this.#prepare(layout));
  }

  /** Derives some missing search texts or drops unused ones; returns whether more exist. */
  workOnSearch(layout: SqliteLayout): boolean {
    return this.#guard(() =>
      this.atomically(() => workOnSearch(this.connection, layout, buildTime)),
    );
  }

  /** Notes that a program uses its search texts. */
  touchSearch(layout: SqliteLayout): void {
    this.#guard(() => {
      this.#prepare(layout);
      touchGeneration(this.connection, layout);
    });
  }

  /** Drops indexes and search texts that a definition does not ask for. */
  dropUnused(layout: SqliteLayout): void {
    this.#guard(() => {
      this.#prepare(layout);
      this.atomically(() => {
        const built = this.#run(layout.builtIndexes());
        dropUnusedIndexes(this.connection, layout, [...built.keys()]);
        dropOtherGenerations(this.connection, layout);
      });
    });
  }

  /** Runs work, of which nothing takes effect when it throws. */
  atomically<R>(work: () => R): R {
    this.connection.exec("SAVEPOINT work");
    try {
      const result = work();
      this.connection.exec("RELEASE work");
      return result;
    } catch (error) {
      this.#context.seen.clear();
      if (this.connection.inTransaction) this.connection.exec("ROLLBACK TO work; RELEASE work");
      throw error;
    }
  }

  /** Ends the work. What it changed is in the transaction, which the caller commits. */
  finish(): void {
    this.#isOpen = false;
    if (this.#failure !== undefined) throw this.#failure;
    for (const [collection, added] of this.#uncounted) {
      if (added === 0) continue;
      const text = `UPDATE ${registryTable} SET documents = documents + ? WHERE name = ?`;
      this.connection.run(text, [added, collection]);
    }
  }

  /** Notes that everything is durable. */
  committed(): void {
    for (const layout of this.#prepared) {
      this.#context.ready.add(layout);
      this.#context.onPrepared(layout);
    }
    if (this.#hasRecorded) this.#context.onRecorded();
    for (const layout of this.#unbuilt) this.#context.onUnbuilt(layout);
  }

  /** Ends work that the caller undoes. */
  close(): void {
    this.#isOpen = false;
    this.#context.seen.clear();
  }

  #guard<R>(work: () => R): R {
    if (!this.#isOpen) throw overError();
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return work();
    } catch (error) {
      // SQLite may have rolled back by itself; another statement would then commit on its own.
      if (isEngineFailure(error)) this.#failure = error;
      throw error;
    }
  }

  #prepare(layout: SqliteLayout): void {
    if (this.#current.has(layout)) return;
    if (!this.#context.ready.has(layout) || !this.#isCurrent(layout)) {
      this.atomically(() => {
        prepareCollection(this.connection, layout);
      });
      this.#prepared.add(layout);
      if (hasSearchWork(this.connection, layout)) this.#unbuilt.add(layout);
    }
    this.#current.add(layout);
  }

  /** Notes what other programs registered and built; returns whether ours still exists. */
  #isCurrent(layout: SqliteLayout): boolean {
    this.#state ??= this.connection.get("PRAGMA data_version", [])?.[0] ?? null;
    const { seen } = this.#context;
    if (seen.get(layout) === this.#state) return true;
    const { definition, members, search } = layout;
    const areBuilt = members.use(builtMembers(this.connection, layout));
    const isRegistered = search.use(readGenerations(this.connection, definition.name)) && areBuilt;
    if (isRegistered) seen.set(layout, this.#state);
    return isRegistered;
  }

  #run<R>(operation: Operation<R>): R {
    return runOperation(operation, (step) => this.#perform(step));
  }

  #perform(step: Step): Result {
    switch (step.kind) {
      case "added":
        this.#uncounted.set(step.collection, this.#uncountedOf(step.collection) + step.count);
        return noResult;
      case "atomic":
        this.atomically(() => {
          this.#run(step.work());
        });
        return noResult;
      case "beforeCommit":
        // Nobody waits for this operation: there is one writer.
        this.#run(step.work());
        return noResult;
      case "recorded":
        this.#hasRecorded = true;
        return noResult;
      case "total": {
        const { count } = readTotal(this.connection, step.collection);
        return { rows: [], count: count + this.#uncountedOf(step.collection) };
      }
      default:
        return runStatement(this.connection, step);
    }
  }

  #uncountedOf(collection: string): number {
    return this.#uncounted.get(collection) ?? 0;
  }
}
