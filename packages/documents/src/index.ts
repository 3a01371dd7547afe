export { administer } from "./administer.ts";
export type { AggregateGroup, AggregateValue } from "./api/aggregate.ts";
export type { Administration, CheckResult } from "./api/administration.ts";
export type { ChangeKind, ChangeRecord, ChangesOptions, ConsumeOptions } from "./api/changes.ts";
export type { Collection } from "./api/collection.ts";
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
export type { Explanation, UnindexedQuery } from "./api/explanation.ts";
export type { CountQuery, FindQuery, Selection, SortKey } from "./api/find-query.ts";
export type { Lease } from "./api/lease.ts";
export type { AppliedMigration, Migration, PlanStep, StoreStatus } from "./api/migration.ts";
export type { Page, PageQuery, Total } from "./api/page.ts";
export type { PostgresOptions } from "./api/postgres-options.ts";
export type { Store, StoreOptions } from "./api/store.ts";
export type { Transaction, TransactionOptions } from "./api/transaction.ts";
export type { DocumentRecord, Snapshot } from "./api/transfer.ts";
export type { Operators, UntypedWhere, Where } from "./api/where.ts";
export type { WriteOptions } from "./api/changing.ts";
export { seal, unseal } from "./document/seal.ts";
export { openStore } from "./open-store.ts";
export { maxSearchLength } from "./query/parse-query.ts";
