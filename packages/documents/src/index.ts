export { administer } from "./administer.ts";
export type { Administration, CheckResult } from "./api/administration.ts";
export type {
  ChangeFeed,
  ChangeKind,
  ChangeRecord,
  ChangesOptions,
  ConsumeOptions,
} from "./api/changes.ts";
export type { Collection, InsertOptions, WriteOptions } from "./api/collection.ts";
export {
  type CollectionDefinition,
  type CollectionOptions,
  defineCollection,
} from "./api/definition.ts";
export type { Change, Meta, Projected, Stored } from "./api/document.ts";
export {
  DocumentsError,
  type DocumentsErrorCode,
  DocumentsTypeError,
  type DocumentsTypeErrorCode,
  InputError,
  UniqueError,
  VersionError,
} from "./api/errors.ts";
export type { FieldPath, FieldValue, MetaField } from "./api/field-path.ts";
export type { Expires } from "./document/expiry.ts";
export type { ClaimQuery, Lease, Leasing } from "./query/parse-claim.ts";
export type { Locking, LockOptions } from "./api/lock.ts";
export type { AppliedMigration, Migration, PlanStep, StoreStatus } from "./api/migration.ts";
export { openStore } from "./open-store.ts";
export type { Near } from "./geo/near.ts";
export type { PostgresOptions } from "./engines/postgres/postgres-settings.ts";
export type { Page, PageQuery, Paging, Total } from "./query/parse-page.ts";
export type { CountQuery, FindQuery, Selection, SortKey } from "./query/parse-query.ts";
export type { Deleted, PurgeSelection, SoftDeletion } from "./query/parse-purge.ts";
export type { ReadOptions } from "./query/parse-read-options.ts";
export type { Store, StoreOptions, Transaction, TransactionOptions } from "./api/store.ts";
export type { DocumentRecord, Loading, Snapshot } from "./document/check-record.ts";
export type { UpsertChange, Upserting, UpsertOptions } from "./query/parse-upsert.ts";
export type {
  Combinators,
  Condition,
  Operators,
  ScalarValue,
  UntypedWhere,
  Where,
} from "./api/where.ts";
