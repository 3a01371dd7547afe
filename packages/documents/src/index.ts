export { administer } from "./administer.ts";
export type { Administration, CheckResult } from "./administration.ts";
export type {
  ChangeFeed,
  ChangeKind,
  ChangeRecord,
  ChangesOptions,
  ConsumeOptions,
} from "./changes.ts";
export type { Collection, InsertOptions, WriteOptions } from "./collection.ts";
export {
  type CollectionDefinition,
  type CollectionOptions,
  defineCollection,
} from "./definition.ts";
export type { Change, Meta, Projected, Stored } from "./document.ts";
export {
  DocumentsError,
  type DocumentsErrorCode,
  DocumentsTypeError,
  type DocumentsTypeErrorCode,
  InputError,
  UniqueError,
  VersionError,
} from "./errors.ts";
export type { FieldPath, FieldValue, MetaField } from "./field-path.ts";
export type { Expires } from "./expiry.ts";
export type { ClaimQuery, Lease, Leasing } from "./lease.ts";
export type { Locking, LockOptions } from "./lock.ts";
export type { AppliedMigration, Migration, PlanStep, StoreStatus } from "./migration.ts";
export { openStore } from "./open-store.ts";
export type { Near } from "./near.ts";
export type { PostgresOptions } from "./postgres/postgres-options.ts";
export type { Page, PageQuery, Paging, Total } from "./page.ts";
export type { CountQuery, FindQuery, Selection, SortKey } from "./query.ts";
export type { Deleted, PurgeSelection, SoftDeletion } from "./soft-deletion.ts";
export type { ReadOptions } from "./staleness.ts";
export type { Store, StoreOptions, Transaction, TransactionOptions } from "./store.ts";
export type { DocumentRecord, Loading, Snapshot } from "./transfer.ts";
export type { UpsertChange, Upserting, UpsertOptions } from "./upsert.ts";
export type {
  Combinators,
  Condition,
  Operators,
  ScalarValue,
  UntypedWhere,
  Where,
} from "./where.ts";
