import type { Transaction } from "./transaction.ts";

/** A change of the stored documents that happens once. */
export interface Migration {
  /** The number, whole and from 1; migrations run in its order. */
  readonly id: number;
  /** Purpose of the migration: 1 to 200 characters. */
  readonly name: string;
  /**
   * Changes the documents, in one transaction with the note that it ran. When it throws, all of it
   * is undone and the store is not opened.
   */
  readonly up: (transaction: Transaction) => Promise<void> | void;
}

/** A migration that ran. */
export interface AppliedMigration {
  /** The number. */
  readonly id: number;
  /** The name. */
  readonly name: string;
  /** When it ran, ISO 8601. */
  readonly at: string;
}

/** One thing that opening a store with definitions and migrations would do or not use. */
export type PlanStep =
  | {
      readonly kind:
        | "build-geo"
        | "build-index"
        | "build-search"
        | "create-collection"
        | "drop-geo"
        | "rebuild-expiry"
        | "unused-index"
        | "unused-search";
      /** The collection's name. */
      readonly collection: string;
      /** The fields of the index. */
      readonly fields: readonly string[];
    }
  | { readonly kind: "unknown-collection"; readonly collection: string }
  | { readonly kind: "migrate"; readonly id: number; readonly name: string };

/** Content of a store. */
export interface StoreStatus {
  /** The engine's name, such as `SQLite 3.53.4`. */
  readonly engine: string;
  /** The collections by name, with the number of their documents. */
  readonly collections: readonly { readonly name: string; readonly documents: number }[];
  /** The migrations that ran, in order. */
  readonly migrations: readonly AppliedMigration[];
  /** The size of the data, in bytes. */
  readonly bytes: number;
}
