import { fieldError, type FieldError } from "../field-error.ts";
import { badFields, Problem } from "../problem.ts";
import type { ResourceCall } from "../resource/call.ts";
import type { FilterField } from "../resource/filter-field.ts";
import { type GroupValue, groupParameters, groupValues, summable } from "../resource/groups.ts";
import type { ListQuery, ListRules } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import { byCaller } from "./by-caller.ts";
import { createListReader, type ListReader } from "./list-query.ts";
import { listParameters } from "./list-reference.ts";
import type { QueryParameter } from "./route.ts";
import { namesIn, signed } from "./sort-and-fields.ts";

/** Groups of a response without `limit`, and at most. */
const defaultGroups = 100;
const maxGroups = 1_000;

/** Fields of `by` at most. */
const maxBy = 8;

/** A value that is computed of the documents of each group. */
export interface AskedValue {
  readonly kind: GroupValue;
  readonly field: string;
}

/** The groups that are asked for. */
export interface GroupsQuery {
  /** Selects the documents that are grouped. */
  readonly selection: Pick<ListQuery, "q" | "where">;
  readonly by: readonly string[];
  readonly values: readonly AskedValue[];
  /** Fields of `by`, `count`, and values such as `sum.total`; a leading `-` reverses the order. */
  readonly sort: readonly string[];
  /** Groups of the response at most. */
  readonly limit: number;
}

/** Reads the parameters of groups for the caller. */
export type GroupsReader = (
  call: Pick<ResourceCall<unknown>, "isMaster" | "query" | "user">,
) => GroupsQuery;

/**
 * Makes the function that reads the parameters of groups. A caller groups and sums up only what it
 * sees of the documents of others.
 *
 * @throws Problem 400 that names every parameter which is wrong.
 */
export function createGroupsReader(resource: Pick<Resource, "views">): GroupsReader {
  const partsFor = byCaller(resource, (rules) => ({
    fields: rules.groups ?? [],
    read: createListReader(selectionRules(rules)),
  }));
  return (call) => readGroups(call.query, partsFor(call));
}

const pagingAndShowing = ["page", "limit", "after", "sort", "fields"] as const;

/** Rules for groups: those by which a list selects documents, without paging and showing. */
function selectionRules(rules: ListRules): ListRules {
  return { ...rules, geo: undefined, trash: false, without: pagingAndShowing };
}

function readGroups(
  query: URLSearchParams,
  { fields, read }: { readonly fields: readonly FilterField[]; readonly read: ListReader },
): GroupsQuery {
  const errors: FieldError[] = [];
  const names = (parameter: string, known: readonly FilterField[]): readonly string[] => {
    const asked = [...new Set(namesIn(query.getAll(parameter)))];
    if (asked.some((name) => !known.some(({ path }) => path === name))) {
      const message = `${parameter} must be one of: ${paths(known)}`;
      errors.push(fieldError(parameter, "enum", message));
      return [];
    }
    return asked;
  };
  const by = names("by", fields);
  if (by.length > maxBy) {
    const message = `by must have length lower than or equal to ${maxBy}`;
    errors.push(fieldError("by", "maxlength", message));
  }
  const values = groupValues.flatMap((kind) =>
    names(kind, summable(kind, fields)).map((field) => ({ kind, field })),
  );
  const sort = readOrder(query, { by, values }, errors);
  const limit = readLimit(query, errors);
  const others = new URLSearchParams(
    [...query].filter(([name]) => !groupParameters.some((known) => known === name)),
  );
  const selection = readSelection(read, others, errors);
  if (errors.length > 0 || !selection) throw badFields(errors);
  return { selection, by, values, sort, limit };
}

function readOrder(
  query: URLSearchParams,
  { by, values }: Pick<GroupsQuery, "by" | "values">,
  errors: FieldError[],
): readonly string[] {
  const known = ["count", ...by, ...values.map(({ field, kind }) => `${kind}.${field}`)];
  const keys = new Map<string, string>();
  for (const key of namesIn(query.getAll("sort"))) {
    const { minus, name } = signed(key);
    if (!known.includes(name)) {
      errors.push(fieldError("sort", "enum", `sort must be one of: ${known.join(", ")}`));
      return [];
    }
    if (!keys.has(name)) keys.set(name, minus ? `-${name}` : name);
  }
  return [...keys.values()].slice(0, maxBy);
}

function readLimit(query: URLSearchParams, errors: FieldError[]): number {
  const [text = "", ...others] = query.getAll("limit");
  if (text === "" && others.length === 0) return defaultGroups;
  const limit = Number(text);
  const isFit = others.length === 0 && Number.isSafeInteger(limit) && limit >= 1;
  if (isFit && limit <= maxGroups) return limit;
  const message = `limit must be a whole number from 1 to ${maxGroups}, given once`;
  errors.push(fieldError("limit", "invalid", message));
  return defaultGroups;
}

function readSelection(
  read: ListReader,
  query: URLSearchParams,
  errors: FieldError[],
): GroupsQuery["selection"] | undefined {
  try {
    return read(query);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    errors.push(...error.errors);
    return undefined;
  }
}

/** Describes the parameters of groups, for a caller who sees every field. */
export function groupsReference({ list }: Pick<Resource, "list">): readonly QueryParameter[] {
  const { groups = [] } = list;
  const text = { type: "string" };
  const values: Readonly<Record<GroupValue, string>> = {
    sum: "Fields whose numbers are added",
    avg: "Fields of whose numbers the average is computed",
    min: "Fields whose smallest value is found",
    max: "Fields whose greatest value is found",
  };
  return [
    {
      name: "by",
      description: `Fields whose values make the groups: ${paths(groups)}`,
      schema: text,
    },
    ...groupValues.flatMap((kind) => {
      const known = summable(kind, groups);
      const description = `${values[kind]}: ${paths(known)}`;
      return known.length === 0 ? [] : [{ name: kind, description, schema: text }];
    }),
    {
      name: "sort",
      description: `Order of the groups: count, fields of by, and values such as sum.total, reversed with "-"`,
      schema: text,
    },
    {
      name: "limit",
      description: `Maximum number of groups. Default: ${defaultGroups}`,
      schema: { type: "integer", minimum: 1, maximum: maxGroups, default: defaultGroups },
    },
    ...listParameters({ list: selectionRules(list) }),
  ];
}

function paths(fields: readonly FilterField[]): string {
  return fields.map(({ path }) => path).join(", ");
}
