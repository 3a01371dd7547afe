import { defineCollection, type CollectionDefinition } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import { named } from "../named-schema.ts";
import { capitalized } from "../operation-name.ts";
import type { LastPart, ListTypes } from "../route-types.ts";
import {
  acceptsNull,
  type JsonSchema,
  jsonSchemaOf,
  propertiesOf,
  type Schema,
} from "../schema.ts";
import type { Operation, ResourceRule } from "./access-rules.ts";
import { checkAccess } from "./check-access.ts";
import { checkOptionNames } from "./check-option-names.ts";
import { checkResource } from "./check-resource.ts";
import type { FilterPath, SchemaField, ShownBy, StoredBy } from "./document-types.ts";
import {
  checkFieldAccess,
  compileFieldRules,
  type FieldAccess,
  type UnseenIn,
} from "./field-access.ts";
import type { FilterField } from "./filter-field.ts";
import { checkGroups } from "./groups.ts";
import { guardedSchema, reservedNames } from "./guarded-schema.ts";
import { type ComputedField, createPresenter, type DerivedField } from "./presenter.ts";
import { compileRelations } from "./relations/compile-relations.ts";
import type { RelatedBy } from "./relations/related-types.ts";
import type { Relations } from "./relations/relation-options.ts";
import type { ResourceOptions } from "./resource-options.ts";
import { listRulesOf, showableNames } from "./resource-rules.ts";
import type { Resource } from "./resource.ts";
import { meta, requiredOf, shownSchemas } from "./shown-schema.ts";
import { compileViews } from "./views.ts";
import { check } from "../errors.ts";

/**
 * Defines a resource: from it follow its routes, its validation, its place in the store and its
 * reference.
 *
 * @throws RestError `ERR_REST_DEFINITION` for names that do not fit, fields that the schema lacks,
 * secrets that something would tell, or an `owner` rule that nobody could ever satisfy.
 */
export function defineResource<
  S extends Schema,
  const Path extends string = string,
  Computed = object,
  const Owner extends string = never,
  const Rules extends FieldAccess = object,
  const Rels extends Relations | undefined = undefined,
  const Filter extends FilterPath<S, Owner, UnseenIn<Rules>> = never,
  const Sort extends Exclude<SchemaField<S>, UnseenIn<Rules>> = never,
>(
  options: ResourceOptions<S, Path, Computed, Owner, Rules, Rels, Filter, Sort>,
): Resource<
  S,
  LastPart<Path>,
  ShownBy<S, Computed, Owner, Rules>,
  StoredBy<S, Owner>,
  RelatedBy<Rels>,
  ListTypes<Filter, Sort>
> {
  checkOptionNames(options);
  const { name, path, schema, owner, search = [], sort = [], unique = [], indexes = [] } = options;
  const { geo, list = {}, softDelete = false } = options;
  const { shape = "array", count = "bounded" } = list;
  const access = { ...adminsOnly, ...checkAccess(options) };
  const output = jsonSchemaOf(schema, "output", name);
  const properties = propertiesOf(output, name);
  const fields = Object.keys(properties);
  const showable = showableNames(options, fields);
  checkFieldAccess(options.fields, { name, owner, fields, showable });
  const fieldRules = compileFieldRules(options.fields);
  const { readOnly, secret } = fieldRules;
  const sent = guardedSchema(schema, { readOnly, secret });
  // They are called with documents of the schema only.
  const computed = (options.computed ?? {}) as Readonly<Record<string, ComputedField>>;
  const plural = (path.split("/").at(-1) ?? "") as LastPart<Path>; // The same in types.
  // Parts of a path have no "_", so that no two paths have the same name.
  const collectionName = path.slice(1).replaceAll("/", "_");
  const derived = (options.derived ?? {}) as Readonly<Record<string, DerivedField>>;
  const view = showable.filter((field) => !secret.has(field));
  const shownOwner = view.find((field) => field === owner && field !== "id");
  const required = requiredOf(jsonSchemaOf(schema, "input"));
  checkResource({
    options,
    fields,
    required,
    view,
    secret,
    readOnly,
    computed,
    derived,
    collectionName,
    meta: Object.keys(meta),
  });
  const relations = compileRelations(options.relations, options.populate, {
    name,
    owner,
    secret,
    properties,
    required,
    taken: [...Object.keys(meta), ...Object.keys(computed), "version", "deletedAt"],
  });
  const type = capitalized(name);
  const input = named(`New${type}`, jsonSchemaOf(sent, "input"), `What creates one ${name}`);
  const rules = listRulesOf(options, { view, properties });
  const { selectable } = rules;
  checkGroups(rules.groups ?? [], {
    name,
    parameters: [...(options.filter ?? []), ...Object.keys(list.parameters ?? {})],
  });
  const views = compileViews(fieldRules.readRules, {
    all: selectable,
    owner,
    shownOwner,
    secret,
    search,
    rules,
    access,
  });
  const { tagOf } = views;
  const shown = shownSchemas(
    { name, type, softDelete, relations, shownOwner, views, list: rules },
    { output, properties, computed, derived },
  );

  return {
    name,
    path,
    plural,
    schema,
    // It is the schema of an object, as was checked above.
    stored: guardedSchema(schema, { readOnly: new Set(), secret }) as Schema<Fields>,
    sent,
    access,
    owner,
    shownOwner,
    properties,
    fields,
    named: new Set(fields),
    nullable: nullableFields(input, name),
    ...fieldRules,
    reserved: reservedNames(output, [
      ...Object.keys(meta),
      "version",
      ...(softDelete ? ["deletedAt"] : []),
      ...(owner === undefined ? [] : [owner]),
      ...Object.keys(computed),
    ]),
    searchable: search.length > 0,
    softDelete,
    list: rules,
    shape,
    count,
    hooks: options.hooks ?? {},
    relations,
    bulkLimit: bulkLimitOf(options.bulk, name),
    // Its fields are those of the schema and the owner, whose names were checked above.
    collection: defineCollection<Fields>(collectionName, {
      unique,
      indexes: withFilters(
        withoutRepetition([
          ...sort,
          "updatedAt",
          ...indexes,
          ...ownerIndex(access, owner),
          ...relations.references.filter(({ many }) => !many).map(({ field }) => field),
        ]),
        { filters: rules.filters ?? [], unique },
      ),
      search,
      ...(softDelete ? { softDelete } : {}),
      ...(options.changes ? { changes: options.changes } : {}),
      ...keptTotal({ count, softDelete }),
      ...(geo === undefined ? {} : { geo: [geo] }),
    }) as CollectionDefinition<StoredBy<S, Owner>>,
    views,
    present: createPresenter(views, { computed, derived }),
    tagOf,
    input,
    ...shown,
  };
}

const adminsOnly: Readonly<Record<Operation, ResourceRule>> = {
  list: "admin",
  show: "admin",
  create: "admin",
  update: "admin",
  remove: "admin",
  restore: "admin",
};

/** Where lists have the documents of one owner, the owner is looked up in an index. */
function ownerIndex({ list }: Resource["access"], owner: string | undefined): readonly string[] {
  return list === "owner" && owner !== undefined && owner !== "id" ? [owner] : [];
}

/** A collection keeps the total where a list that nothing narrows shows it. */
function keptTotal({
  count,
  softDelete,
}: Pick<Resource, "count" | "softDelete">): Pick<CollectionDefinition<unknown>, "keepTotal"> {
  const isShown = count === "exact" || (count === "bounded" && !softDelete);
  return isShown ? { keepTotal: true } : {};
}

function withoutRepetition(
  indexes: readonly (string | readonly string[])[],
): readonly (string | readonly string[])[] {
  const known = new Map(indexes.map((index) => [[index].flat().join(), index]));
  return [...known.values()];
}

/** Adds an index per filtered field, unless one begins with it or none can serve. */
function withFilters(
  indexes: readonly (string | readonly string[])[],
  {
    filters,
    unique,
  }: {
    readonly filters: readonly FilterField[];
    readonly unique: readonly (string | readonly string[])[];
  },
): readonly (string | readonly string[])[] {
  const first = new Set([...indexes, ...unique].map((index) => [index].flat()[0]));
  const missing = filters
    .filter(({ path, type }) => !type.isList && path !== "id" && path !== "createdAt")
    .filter(({ path }) => !first.has(path));
  return [...indexes, ...missing.map(({ path }) => path)];
}

function nullableFields(input: JsonSchema, name: string): ReadonlySet<string> {
  const properties = Object.entries(propertiesOf(input, name));
  return new Set(properties.filter(([, one]) => acceptsNull(one)).map(([field]) => field));
}

const defaultLimit = 100;
const greatestLimit = 1_000;

/**
 * Reads the option `bulk`; 0 for a resource without bulk requests.
 *
 * @throws RestError `ERR_REST_DEFINITION` for a limit that is not 1 to 1,000
 */
function bulkLimitOf(bulk: boolean | { readonly limit: number } | undefined, name: string): number {
  if (bulk === undefined || bulk === false) return 0;
  const limit = bulk === true ? defaultLimit : bulk.limit;
  const isLimit = Number.isSafeInteger(limit) && limit >= 1 && limit <= greatestLimit;
  check(isLimit, `the limit of bulk of ${name} must be a whole number from 1 to ${greatestLimit}`);
  return limit;
}
