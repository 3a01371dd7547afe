import {
  defineCollection,
  type CollectionDefinition,
  type Meta,
  type Stored,
} from "@fetchwork/documents";
import type { AccessRule } from "./access.ts";
import { accessTokenField } from "./access-token.ts";
import { RestError } from "./errors.ts";
import type { ListRules } from "./list-query.ts";
import type { LastPart } from "./route-types.ts";
import {
  jsonSchemaOf,
  propertiesOf,
  type JsonSchema,
  type OutputOf,
  type Schema,
} from "./schema.ts";

/** Operations of a resource. */
export type Operation = "list" | "show" | "create" | "update" | "remove";

/**
 * Rules that an operation of a resource may have: those of routes, and `owner`, which lets pass the user who
 * created the document, and admins.
 */
export type ResourceRule = Exclude<AccessRule, "password" | "master+password"> | "owner";

/** What a resource is. */
export interface ResourceOptions<
  S extends Schema,
  Path extends string = string,
  View extends string = string,
> {
  /** Name of one, in camel case: `article`. Operations are called after it: `createArticle`. */
  readonly name: string;
  /** Path of the collection: `/articles`. The last part is the name of its documents in the store. */
  readonly path: Path;
  /** Fields that clients send and see. What it yields must be valid input again, since updates are merged. */
  readonly schema: S;
  /** Who may do what. An operation that is left out is open to admins only. */
  readonly access: Readonly<Partial<Record<Operation, ResourceRule>>>;
  /**
   * Field that holds the identifier of the user who created the document. It is not shown. Needed by the rule
   * `owner`, and for that `create` has to be restricted to users.
   */
  readonly owner?: string | undefined;
  /** Fields that are shown, in this order. Default: `id`, the fields of the schema, `createdAt` and `updatedAt`. */
  readonly view?: readonly View[] | undefined;
  /** Fields in which `q` searches. Default: none, and no `q`. */
  readonly search?: readonly string[] | undefined;
  /** Fields to sort by, beside `id`, `createdAt` and `updatedAt`. Each gets an index. */
  readonly sort?: readonly string[] | undefined;
  /** Fields whose values are unique; an array of names for a combination. */
  readonly unique?: readonly (string | readonly string[])[] | undefined;
}

/** A resource as routes, controllers and the store use it. */
export interface Resource<
  S extends Schema = Schema,
  Plural extends string = string,
  Shown = unknown,
> {
  /** Never set: carries the type of a document as clients see it. */
  readonly shownType?: Shown | undefined;
  readonly name: string;
  readonly path: string;
  /** Name of the collection in the store, and of the group in the reference. */
  readonly plural: Plural;
  readonly schema: S;
  readonly access: Readonly<Record<Operation, ResourceRule>>;
  readonly owner: string | undefined;
  /** Names of the fields of the schema. */
  readonly fields: readonly string[];
  readonly searchable: boolean;
  readonly list: ListRules;
  readonly collection: CollectionDefinition<Fields>;
  /** Schema of what clients send. */
  readonly input: JsonSchema;
  /** Schema of what clients see. */
  readonly output: JsonSchema;
}

/** Fields of a document as the store keeps them. */
export type Fields = Record<string, unknown>;

/** A document of a resource, with its identifier and times. */
export type DocumentOf<R extends Resource> =
  R extends Resource<infer S> ? Stored<OutputOf<S>> : never;

/** A document as clients see it: the shown ones of its own fields and of those that every document has. */
export type ShownBy<S extends Schema, View extends string> = Pick<
  WithMeta<S>,
  Extract<keyof WithMeta<S>, View>
>;

type WithMeta<S extends Schema> = OutputOf<S> & Omit<Meta, "version">;
type ShownField<S extends Schema> = Extract<keyof WithMeta<S>, string>;

/** Fields that every document has. */
const meta: Readonly<Record<string, JsonSchema>> = {
  id: { type: "string" },
  createdAt: { type: "string", format: "date-time" },
  updatedAt: { type: "string", format: "date-time" },
};

/**
 * Defines a resource: from it follow its routes, its validation, its place in the store and its reference.
 *
 * @throws RestError `ERR_REST_DEFINITION` for names that do not fit, fields that the schema lacks, or an `owner`
 * rule that nobody could ever satisfy.
 */
export function defineResource<
  S extends Schema,
  const Path extends string = string,
  const View extends string = ShownField<S>,
>(options: ResourceOptions<S, Path, View>): Resource<S, LastPart<Path>, ShownBy<S, View>> {
  const { name, path, schema, owner, search = [], sort = [], unique = [] } = options;
  const access = { ...adminsOnly, ...options.access };
  const input = jsonSchemaOf(schema, "input");
  const output = jsonSchemaOf(schema, "output");
  const properties = propertiesOf(output, name);
  const fields = Object.keys(properties);
  const plural = (path.split("/").at(-1) ?? "") as LastPart<Path>; // The same in types.
  const view: readonly string[] = options.view ?? ["id", ...fields, "createdAt", "updatedAt"];

  check(/^[a-z][A-Za-z0-9]*$/.test(name), `the name ${name} of a resource must be in camel case`);
  check(
    /^(?:\/[a-z][a-z0-9-]*)+$/.test(path) && plural.length <= 40,
    `the path ${path} must be like /articles, its last part at most 40 characters long`,
  );
  for (const field of [...search, ...sort, ...unique.flat()]) {
    check(fields.includes(field), `${name} has no field ${field}`);
  }
  for (const field of view) {
    check(
      fields.includes(field) || Object.hasOwn(meta, field),
      `${name} has no field ${field} to show`,
    );
  }
  for (const field of [...fields, ...(owner === undefined ? [] : [owner])]) {
    const reserved = Object.hasOwn(meta, field) || ["version", accessTokenField].includes(field);
    check(!reserved, `${field} is a reserved name and cannot be a field of ${name}`);
  }
  check(owner === undefined || !fields.includes(owner), `${name} has two fields ${owner ?? ""}`);
  const owned = Object.values(access).includes("owner");
  check(!owned || owner !== undefined, `${name} has the rule owner, but no owner field`);
  const anonymous = access.create === "public" || access.create === "master";
  check(owner === undefined || !anonymous, `${name} has an owner, but anonymous creators`);
  check(access.list !== "owner" && access.create !== "owner", `list and create have no owner yet`);

  const showsOthers = access.list !== "admin" && access.list !== "master";
  check(
    access.show !== "owner" || !showsOthers,
    `${name} is shown to owners, but listed to others`,
  );

  return {
    name,
    path,
    plural,
    schema,
    access,
    owner,
    fields,
    searchable: search.length > 0,
    list: {
      sortable: [...sort, ...Object.keys(meta)],
      selectable: view,
      defaultSort: ["-createdAt"],
    },
    collection: defineCollection<Fields>(plural, {
      unique,
      indexes: [...sort, "updatedAt"],
      search,
    }),
    input,
    output: shownSchema(view, output, properties),
  };
}

const adminsOnly: Readonly<Record<Operation, ResourceRule>> = {
  list: "admin",
  show: "admin",
  create: "admin",
  update: "admin",
  remove: "admin",
};

function shownSchema(
  view: readonly string[],
  output: JsonSchema,
  properties: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const required = Array.isArray(output["required"]) ? (output["required"] as unknown[]) : [];
  return {
    type: "object",
    properties: Object.fromEntries(view.map((field) => [field, meta[field] ?? properties[field]])),
    required: view.filter((field) => Object.hasOwn(meta, field) || required.includes(field)),
  };
}

function check(holds: boolean, message: string): void {
  if (!holds) throw new RestError("ERR_REST_DEFINITION", message);
}
