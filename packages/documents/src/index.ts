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
  Facet,
  Facets,
  FacetsQuery,
  MemberValue,
} from "./api/aggregate.ts";
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
export type {
  ExplainedQuery,
  ExplainOptions,
  Explanation,
  ServingIndex,
  UnindexedQuery,
} from "./api/explanation.ts";
export type { Expires } from "./api/expiry.ts";
export type { FieldPath, FieldValue, ListMember, ListPath, MetaField } from "./api/field-path.ts";
export type { CountQuery, FindQuery, Selection, SortKey } from "./api/find-query.ts";
export type { ClaimQuery, Lease, Leasing } from "./api/lease.ts";
export type { Locking, LockOptions } from "./api/lock.ts";
export type { AppliedMigration, Migration, PlanStep, StoreStatus } from "./api/migration.ts";
export type { Near } from "./api/near.ts";
export type { Page, PageQuery, Paging, Total } from "./api/page.ts";
export type { PostgresOptions } from "./api/postgres-options.ts";
export type { ReadOptions } from "./api/read-options.ts";
export type { Deleted, PurgeSelection, SoftDeletion } from "./api/soft-deletion.ts";
export type { Store, StoreOptions } from "./api/store.ts";
export type { Transaction, TransactionOptions } from "./api/transaction.ts";
export type { DocumentRecord, Loading, Snapshot } from "./api/transfer.ts";
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
export { openStore } from "./open-store.ts";
