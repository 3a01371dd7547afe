import type { JsonSchema, Schema } from "../schema.ts";
import { filterField, type FilterField } from "./filter-field.ts";
import type { ListRules } from "./list-rules.ts";
import type { ResourceOptions } from "./resource-options.ts";

/** Times that the store keeps of a document. */
const times: readonly string[] = ["createdAt", "updatedAt"];

/** The fields that a resource shows. */
export interface ShownNames {
  /** In their order. */
  readonly view: readonly string[];
  /** The owner field, where it is one of them. */
  readonly shownOwner: string | undefined;
}

/** Names the fields that are shown, out of those of the schema that are not secret. */
export function shownNames(
  { computed, owner, showOwner = true, view }: ResourceOptions<Schema>,
  visible: readonly string[],
): ShownNames {
  const ownField = owner === "id" ? undefined : owner;
  const last = ownField === undefined || !showOwner ? [] : [ownField];
  const names = view ?? ["id", ...visible, ...Object.keys(computed ?? {}), ...times, ...last];
  const shownOwner = ownField !== undefined && names.includes(ownField) ? ownField : undefined;
  return { view: names, shownOwner };
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
  const { limit, names, parameters } = list;
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
    names,
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
