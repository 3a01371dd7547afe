import type { Schema } from "../schema.ts";
import type { AccessRules } from "./access-rules.ts";
import type {
  ComputedFields,
  DerivedFields,
  FilterPath,
  IndexPath,
  NamesOf,
  SchemaField,
  StoredBy,
  StoredField,
} from "./document-types.ts";
import type { FieldAccess, UnseenIn } from "./field-access.ts";
import type { ResourceHooks } from "./hooks.ts";
import type { ListOptions } from "./list-options.ts";
import type { PopulateOptions, Relations } from "./relations/relation-options.ts";

/** Definition of a resource. */
export interface ResourceOptions<
  S extends Schema,
  Path extends string = string,
  Computed = Readonly<Record<string, unknown>>,
  Owner extends string = string,
  Rules = FieldAccess,
  Rels = Relations,
  Filter extends string = FilterPath<S, Owner>,
  Sort extends string = SchemaField<S>,
> {
  /** Name of one, in camel case: `article`. Operations are called after it: `createArticle`. */
  readonly name: string;
  /** Path of the collection: `/articles` is stored as `articles`, and `/a/b` as `a_b`. */
  readonly path: Path;
  /** Fields that clients send and see. The output must be valid input again: updates are merged. */
  readonly schema: S;
  /** Rules of who may do what. An operation that is left out is open to admins only. */
  readonly access: AccessRules<NoInfer<StoredBy<S, Owner>>>;
  /**
   * Field that holds the identifier of the user who created the document. Needed by the rule
   * `owner`, and for that `create` has to be restricted to users. `id` where the documents are the
   * users themselves, so that each owns itself. Documents show under its name what everyone may see
   * of that user, `id`, `name` and `picture`; `null` for a user who was removed. The users are the
   * resource of the API whose `owner` is `"id"`; without one, no owner is shown. Default: documents
   * have no owner.
   */
  readonly owner?: Owner | undefined;
  /**
   * Rules of who sees single fields, wherever documents are shown, and who sets them: fields of the
   * schema, computed ones, times and the owner.
   * `{ salary: "admin", notes: { read: "owner", write: "admin" }, passwordHash: "nobody" }`. A rule
   * alone is for both. Callers neither filter, sort nor search by fields that they do not see. A
   * caller who sends a field that others set gets a 403. Default: everyone sees `id`, the fields of
   * the schema, computed ones, times and the owner, in this order, and callers who may change
   * documents set those of the schema.
   */
  readonly fields?: Rules | undefined;
  /** Fields in which `q` searches. Default: none, and no `q`. */
  readonly search?: readonly NoInfer<Exclude<SchemaField<S>, UnseenIn<Rules>>>[] | undefined;
  /** Fields to sort by, in addition to `id`, `createdAt` and `updatedAt`. Each gets an index. */
  readonly sort?: readonly Sort[] | undefined;
  /**
   * Fields to filter by: of the schema, with dots between the levels of nested ones, `id`,
   * `createdAt`, `updatedAt` and the owner field. Each shows who may list which documents have
   * which value. Each gets an index, except those whose values are lists. Default: none.
   */
  readonly filter?: readonly Filter[] | undefined;
  /**
   * Fields that `GET /orders/groups` may group by and sum up:
   * `?by=state&sum=total&avg=total&sort=-count`. Callers who may list sees of which values there
   * are how many. All the documents that match are read. Texts, numbers and booleans of the schema,
   * with dots between the levels of nested ones, `createdAt`, `updatedAt` and the owner field.
   * Default: none, and no such route.
   */
  readonly groups?: readonly string[] | undefined;
  /** Fields with unique values, also the owner; an array of names for a combination. */
  readonly unique?: NamesOf<StoredField<S, Owner>> | undefined;
  /**
   * Further indexes; an array of names for a combination, such as a field to filter by and one to
   * sort by: with `[["state", "createdAt"]]` a list of one state needs no sorting. Default: none.
   */
  readonly indexes?: NamesOf<IndexPath<S, Owner>> | undefined;
  /**
   * Field with a place on Earth, `{ latitude, longitude }` or a GeoJSON point; lists then take
   * `near`, `min_distance` and `max_distance`. Default: none.
   */
  readonly geo?: string | undefined;
  /**
   * Replacements for fields that a document lacks, by name. Each is computed from another field,
   * for callers who see that field; others see `null`. Example: a name that follows from the email.
   * Default: none.
   */
  readonly derived?: DerivedFields<S> | undefined;
  /** Fields that are worked out when a document is shown, by name. Default: none. */
  readonly computed?: ComputedFields<S, Computed> | undefined;
  /**
   * Keeps removed documents. Admins see them with `trash=only` or `trash=with`, and callers whom
   * the rule `restore` names brings them back with `POST /articles/:id/restore`. Default: `false`.
   */
  readonly softDelete?: boolean | undefined;
  /**
   * Records each change in the feed of the store (`store.changes`): which document it was
   * (`"ids"`), or with the document as it is then (`"documents"`). Webhooks need the documents.
   * Default: changes are not recorded.
   */
  readonly changes?: "documents" | "ids" | undefined;
  /**
   * How documents belong to those of other resources. Each field with an identifier gets an index,
   * and what it refers to must be there. Default: none.
   */
  readonly relations?: Rels | undefined;
  /** Relations that lists and documents show on demand. Default: each one, and none of theirs. */
  readonly populate?: PopulateOptions | undefined;
  /**
   * Takes `POST /articles/bulk`: up to `limit` creations, changes and deletions, all of them or
   * none. `true` is a limit of 100. Default: `false`.
   */
  readonly bulk?: boolean | { readonly limit: number } | undefined;
  /** Functions to run before and after operations. Default: none. */
  readonly hooks?: ResourceHooks<NoInfer<StoredBy<S, Owner>> & object> | undefined;
  /** How lists look and which parameters they take. */
  readonly list?: ListOptions | undefined;
}
