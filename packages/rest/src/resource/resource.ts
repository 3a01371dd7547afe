import type { CollectionDefinition, Stored } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { JsonSchema, Schema } from "../schema.ts";
import type { Operation, ResourceRule } from "./access-rules.ts";
import type { CompiledFieldRules } from "./field-access.ts";
import type { ResourceHooks } from "./hooks.ts";
import type { ListOptions } from "./list-options.ts";
import type { ListRules } from "./list-rules.ts";
import type { Presenter } from "./presenter.ts";
import type { ReferenceField } from "./relations/referrers.ts";
import type { Viewer, Views } from "./views.ts";

/** A resource as routes, controllers and the store use it. */
export interface Resource<
  S extends Schema = Schema,
  Plural extends string = string,
  Shown = unknown,
  Document extends object = Fields,
  Related = unknown,
  Lists = unknown,
> extends CompiledFieldRules {
  /** Never set: carries the type of a document as clients see it. */
  readonly shownType?: Shown | undefined;
  /** Never set: carries the types of the documents that relations lead to. */
  readonly relatedType?: Related | undefined;
  /** Never set: carries the fields by which lists filter and sort. */
  readonly listTypes?: Lists | undefined;
  readonly name: string;
  readonly path: string;
  /** Last part of the path; name of the group in the reference. */
  readonly plural: Plural;
  readonly schema: S;
  /** Schema of what is stored, for updates: silent about secret fields. */
  readonly stored: Schema<Fields>;
  /** Schema of what clients send: without read-only fields, and silent about secret ones. */
  readonly sent: Schema;
  readonly access: Readonly<Record<Operation, ResourceRule>>;
  /** Field with the identifier of the owner; `id` where documents own themselves, as users do. */
  readonly owner: string | undefined;
  /** The owner field, where documents show the public view of that user. */
  readonly shownOwner: string | undefined;
  /** Schemas of the fields as they are stored. */
  readonly properties: Readonly<Record<string, JsonSchema>>;
  /** Names of the fields of the schema. */
  readonly fields: readonly string[];
  /** The same as a set. */
  readonly named: ReadonlySet<string>;
  /** Names of the fields for which the schema accepts `null`. */
  readonly nullable: ReadonlySet<string>;
  /** Names that a schema which takes any field lets pass, and that clients do not set. */
  readonly reserved: ReadonlySet<string>;
  readonly searchable: boolean;
  readonly softDelete: boolean;
  /** Rules for the parameters of a list when the caller sees every field. */
  readonly list: ListRules;
  readonly shape: NonNullable<ListOptions["shape"]>;
  readonly count: NonNullable<ListOptions["count"]>;
  readonly hooks: ResourceHooks;
  readonly relations: CompiledRelations;
  /** Items of a bulk request at most; 0 for a resource without them. */
  readonly bulkLimit: number;
  readonly collection: CollectionDefinition<Document>;
  /** Fields of documents that each caller sees. */
  readonly views: Views;
  /** Shows a document to a caller. */
  readonly present: Presenter;
  /** Makes the entity tag of what a caller sees of a document. */
  readonly tagOf: (document: Stored<object>, viewer: Viewer) => string;
  /** Schema of what clients send. */
  readonly input: JsonSchema;
  /** Schema of what callers of `list` and `show` see, with or without `populate`. */
  readonly output: JsonSchema;
  /** Schema of what callers see after a change, which has no `populate`. */
  readonly changed: JsonSchema;
}

/** A document of a resource as the store keeps it, with its identifier and times. */
export type DocumentOf<R extends Resource> =
  R["collection"] extends CollectionDefinition<infer Document> ? Stored<Document> : never;

/** A relation whose identifiers are in a field of the resource. */
export interface Reference extends ReferenceField {
  readonly name: string;
  readonly to: () => Resource;
}

/** A relation whose identifiers are in the other resource. */
export interface Inverse {
  readonly name: string;
  readonly inverse: string;
  readonly limit: number;
  readonly to: () => Resource;
}

/** The relations of a resource, checked as far as it knows. */
export interface CompiledRelations {
  readonly references: readonly Reference[];
  readonly inverses: readonly Inverse[];
  /** Every path that `populate` may name. */
  readonly paths: readonly string[];
}
