export { administer } from "./administer.ts";
export type {
  AggregateGroup,
  AggregateQuery,
  AggregateSelection,
  AggregateSortKey,
  AggregateValue,
  AggregateValues,
  Aggregating,
  DistinctQuery,
  MemberValue,
} from "./api/reading/aggregate.ts";
export type { Administration, CheckResult } from "./api/administration.ts";
export type {
  ChangeFeed,
  ChangeKind,
  ChangeRecord,
  ChangesOptions,
  ConsumeOptions,
} from "./api/changes.ts";
export type { Collection, InsertOptions } from "./api/collection.ts";
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
  SchemaError,
  UniqueError,
  VersionError,
} from "./api/errors.ts";
export type {
  ExplainedQuery,
  ExplainOptions,
  Explanation,
  ServingIndex,
  UnindexedQuery,
} from "./api/explanation.ts";
export type { Expires } from "./api/expiry.ts";
export type { FieldChanging, Increments } from "./api/changing/field-changes.ts";
export type { FieldPath, FieldValue, ListMember, ListPath, MetaField } from "./api/field-path.ts";
export type { CountQuery, FindQuery, Selection, SortKey } from "./api/find-query.ts";
export type { ClaimQuery, Lease, Leasing } from "./api/lease.ts";
export type { Locking, LockOptions } from "./api/lock.ts";
export type { AppliedMigration, Migration, PlanStep, StoreStatus } from "./api/migration.ts";
export type { Near } from "./api/near.ts";
export type { Page, PageQuery, Paging, Total } from "./api/page.ts";
export type { PostgresOptions } from "./api/postgres-options.ts";
export type { SchemaIssue, SchemaResult, StandardSchema } from "@fetchwork/kit";
export type { Deleted, PurgeSelection, SoftDeletion } from "./api/soft-deletion.ts";
export type { Store, StoreOptions } from "./api/store.ts";
export type { Streaming, StreamQuery } from "./api/reading/stream.ts";
export type { Transaction, TransactionOptions } from "./api/transaction.ts";
export type { DocumentRecord, Loading, Snapshot } from "./api/transfer.ts";
export type { ManyChanges, UpdatingMany } from "./api/changing/update-many.ts";
export type { UpsertChange, Upserting, UpsertOptions } from "./api/upsert.ts";
export type {
  Combinators,
  Condition,
  MemberOperators,
  Operators,
  ScalarValue,
  UntypedWhere,
  Where,
} from "./api/where.ts";
export type { WriteOptions } from "./api/changing/write-options.ts";
export { openStore } from "./open-store.ts";
export { maxSearchLength } from "./query/parse-query.ts";
