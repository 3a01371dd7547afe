import type { UntypedWhere } from "@fetchwork/documents";
import { accessTokenField } from "../access-token.ts";
import { fieldError, type FieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import { compileListParameter } from "../resource/list-parameter.ts";
import {
  hasParameter,
  type ListQuery,
  type ListRules,
  standardParameters,
} from "../resource/list-rules.ts";
import { type FilterCondition, filterParameters, maxFilters } from "./filter-parameters.ts";
import { type GivenValues, once, readStandard } from "./standard-parameters.ts";
import { unknownParameters } from "./unknown-parameters.ts";
import { whereReader } from "./where-parameter.ts";

/**
 * Reads the query of a list; a {@link Problem} of status 400 names everything that is wrong with
 * it.
 *
 * @param maxWhere - Longest `where`, in characters. Default: `4_096`.
 */
export type ListReader = (parameters: URLSearchParams, maxWhere?: number) => ListQuery;

/**
 * Prepares everything about the parameters of a list that no request changes. Unknown parameters
 * are refused.
 *
 * An empty value of a standard parameter counts as not given, but `after` without one begins paging
 * by cursors.
 */
export function createListReader(rules: ListRules): ListReader {
  const names = new Set(standardParameters.filter((name) => hasParameter(rules, name)));
  const filters = filterParameters(rules.filters ?? []);
  const readWhere = names.has("where") ? whereReader(rules.filters ?? []) : undefined;
  const custom = Object.entries(rules.parameters ?? {}).map(([name, one]) =>
    compileListParameter(name, one),
  );
  const known = new Set([
    ...names,
    ...filters.keys(),
    ...custom.map(({ name }) => name),
    accessTokenField,
  ]);
  const plain = custom.length === 0 ? read(new URLSearchParams()) : undefined;
  return (query, maxWhere) => (query.size === 0 && plain ? plain : read(query, maxWhere));

  function read(query: URLSearchParams, maxWhere?: number): ListQuery {
    const values = valuesIn(query);
    const errors: FieldError[] = [];
    refuseUnknown(values, errors);
    const standard = readStandard(values, { rules, names, errors });
    const conditions: UntypedWhere[] = [];
    if (filters.size > 0) readFilters(values, conditions, errors);
    const where = readWhereOf(values, maxWhere);
    if (where && "where" in where) conditions.push(where.where);
    else if (where) errors.push(where);
    if (custom.length > 0) readCustom(values, conditions, errors);
    if (errors.length > 0) throw badFields(errors);
    return { ...standard, where: conditions.length > 1 ? { and: conditions } : conditions[0] };
  }

  function refuseUnknown(values: GivenValues, errors: FieldError[]): void {
    const unknown: string[] = [];
    for (const name of values.keys()) if (!known.has(name)) unknown.push(name);
    if (unknown.length > 0) errors.push(...unknownParameters(unknown));
  }

  function readFilters(values: GivenValues, found: UntypedWhere[], errors: FieldError[]): void {
    let count = 0;
    for (const [name, [text = "", ...others]] of values) {
      const filter = filters.get(name);
      if (!filter) continue;
      count += 1;
      if (count > maxFilters) {
        const message = `a list takes at most ${maxFilters} filters`;
        errors.push(fieldError(name, "maxlength", message));
        return;
      }
      const condition = others.length > 0 ? once(name) : filter.read(text);
      if ("where" in condition) found.push(condition.where);
      else errors.push(condition);
    }
  }

  function readWhereOf(
    values: GivenValues,
    maxLength: number | undefined,
  ): FieldError | FilterCondition | undefined {
    if (readWhere === undefined) return undefined;
    const [text, ...others] = values.get("where") ?? [];
    if (text === undefined || text === "") return undefined;
    return others.length > 0 ? once("where") : readWhere.text(text, maxLength);
  }

  function readCustom(values: GivenValues, found: UntypedWhere[], errors: FieldError[]): void {
    for (const { name, read: readOne } of custom) {
      const [text, ...others] = values.get(name) ?? [];
      if (others.length > 0) errors.push(once(name));
      const result = readOne(text);
      if (!("where" in result)) errors.push(...result);
      else if (result.where !== undefined) found.push(result.where);
    }
  }
}

/** Takes the parameters apart once, however many are looked for. */
function valuesIn(query: URLSearchParams): GivenValues {
  const values = new Map<string, string[]>();
  for (const [name, value] of query) {
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}
