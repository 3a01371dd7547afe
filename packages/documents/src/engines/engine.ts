import type { CollectionDefinition } from "../api/definition.ts";
import type { StoreStatus } from "../api/migration.ts";
import type { ChangeBatch } from "../changes/follow-changes.ts";
import type { Begin } from "./dialect.ts";
import type { Layout } from "./layout.ts";
import type { Operation, Row } from "./operation.ts";
import type { FeedQuery } from "./operations/feed.ts";
import type { Extent } from "./operations/extent.ts";
import type { ReadPlan } from "./operations/find.ts";
import type { Removal } from "./operations/removal.ts";

/** Result of a {@link ReadPlan}. */
export interface Found<R> extends Extent {
  /** Item that was made of each row. */
  readonly items: readonly R[];
  readonly count: number;
}

/** Runs operations on collections: each on its own, or all in one transaction. */
export interface Access {
  /** Whether all of it is one transaction. */
  readonly isTransaction: boolean;
  /** Selects and counts documents; `map` makes an item of each row. */
  find<R>(layout: Layout, plan: ReadPlan, map: (row: Row) => R): Promise<Found<R>>;
  /** Removes documents; returns their number. Outside of a transaction it may be done in parts. */
  remove(layout: Layout, removal: Removal): Promise<number>;
  /** Runs an operation that reads. */
  read<R>(layout: Layout, operation: () => Operation<R>): Promise<R>;
  /** Runs an operation that takes effect as a whole or not at all. */
  write<R>(layout: Layout, operation: () => Operation<R>): Promise<R>;
}

/** Runs operations on the store's own tables. */
export interface OwnAccess {
  own<R>(operation: (begin: Begin) => Operation<R>): Promise<R>;
}

/** Runs operations of one transaction. */
export interface TransactionAccess extends Access, OwnAccess {}

/** Reads the store as it is at one moment. */
export interface SnapshotAccess extends OwnAccess {
  /** Whether the table of a collection has a column. */
  hasColumn(collection: string, column: string): Promise<boolean>;
}

/** A database: runs operations and knows how collections lie in it, but not what they mean. */
export interface Engine extends Access {
  /** Describes how a collection lies in the database. */
  layout(definition: CollectionDefinition<unknown>): Layout;
  /** Creates what collections need. */
  prepare(layouts: readonly Layout[]): Promise<void>;
  /** Waits until everything is built that `prepare` left to be built while the store is in use. */
  built(): Promise<void>;
  /** Drops indexes and search texts that the definitions of collections do not ask for. */
  dropUnused(layouts: readonly Layout[]): Promise<void>;
  /** Runs a transaction; see `Store.transaction`. */
  transaction<R>(
    work: (access: TransactionAccess) => Promise<R> | R,
    options: { readonly timeout: number; readonly retries: number | undefined },
  ): Promise<R>;
  /** Runs a migration in a transaction, while no other process runs one. */
  migrate<R>(work: (access: TransactionAccess) => Promise<R>): Promise<R>;
  /** Runs one transaction in which any number of documents are loaded. */
  load<R>(work: (access: TransactionAccess) => Promise<R>): Promise<R>;
  /** Lets work read the store as it is at one moment. */
  snapshot<R>(work: (access: SnapshotAccess) => Promise<R>): Promise<R>;
  /** Reads the store's own tables. */
  readOwn<R>(operation: (begin: Begin) => Operation<R>): Promise<R>;
  /** Changes the store's own tables. */
  writeOwn<R>(operation: (begin: Begin) => Operation<R>): Promise<R>;
  /** Reads the oldest changes after a position. */
  readChanges(query: FeedQuery): Promise<ChangeBatch>;
  /** Calls the listener whenever changes may have been recorded; returns what ends that. */
  onRecorded(listener: () => void): () => void;
  /** Reads what the store holds. */
  status(begin: Begin): Operation<StoreStatus>;
  /** Reads everything and returns what is damaged. */
  check(): Promise<readonly string[]>;
  /** Copies the store to a new file. */
  backup(path: string): Promise<void>;
  /** Waits for what has begun and closes the connections. */
  close(): Promise<void>;
}
