import type { JsonSchema, Schema } from "../schema.ts";
import { filterField, type FilterField } from "./filter-field.ts";
import type { ListRules } from "./list-rules.ts";
import type { ResourceOptions } from "./resource-options.ts";

/** Times that the store keeps of a document. */
const times: readonly string[] = ["createdAt", "updatedAt"];

/** Names all fields that documents can show, in their order. */
export function showableNames(
  { computed, owner }: ResourceOptions<Schema>,
  fields: readonly string[],
): readonly string[] {
  const last = owner === undefined || owner === "id" ? [] : [owner];
  return ["id", ...fields, ...Object.keys(computed ?? {}), ...times, ...last];
}

/** Makes what the parameters of a list may ask for when the caller sees every field. */
export function listRulesOf(
  options: ResourceOptions<Schema>,
  {
    view,
    properties,
  }: {
    readonly view: readonly string[];
    readonly properties: Readonly<Record<string, JsonSchema>>;
  },
): ListRules {
  const {
    filter = [],
    geo,
    groups = [],
    list = {},
    owner,
    search = [],
    softDelete,
    sort = [],
  } = options;
  const { limit, pages, parameters } = list;
  return {
    // The order tells about the times, and cursors have them in clear.
    sortable: [...sort, "id", ...times.filter((time) => view.includes(time))],
    selectable: softDelete === true ? [...view, "deletedAt"] : view,
    // Identifiers follow the time of creation.
    defaultSort: list.sort ?? [view.includes("createdAt") ? "-createdAt" : "-id"],
    searchable: search.length > 0,
    filters: filter.map((field) => filterFor(field, { owner, properties })),
    groups: groups.map((field) => filterFor(field, { owner, properties })),
    defaultLimit: limit?.default,
    maxLimit: limit?.max,
    geo,
    trash: softDelete,
    without: pages === false ? ["page"] : undefined,
    parameters,
  };
}

function filterFor(
  field: string,
  {
    owner,
    properties,
  }: {
    readonly owner: string | undefined;
    readonly properties: Readonly<Record<string, JsonSchema>>;
  },
): FilterField {
  if (times.includes(field)) {
    return { path: field, type: { kind: "stored-time", values: undefined, isList: false } };
  }
  if (field === "id" || field === owner) {
    return { path: field, type: { kind: "string", values: undefined, isList: false } };
  }
  return filterField(field, properties);
}
