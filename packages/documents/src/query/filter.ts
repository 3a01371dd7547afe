import { type InputError, queryError } from "../api/errors.ts";
import { type ParsedPath, parsePath } from "../api/field-path.ts";
import type { ScalarValue } from "../api/where.ts";
import { isPlainObject } from "../is-plain-object.ts";

/** A filter that was checked, in the few forms that an engine translates. */
export type Filter =
  | { readonly kind: "all" | "any"; readonly filters: readonly Filter[] }
  | ContainsFilter
  | { readonly kind: "equals"; readonly path: ParsedPath; readonly values: readonly ScalarValue[] }
  | { readonly kind: "exists"; readonly path: ParsedPath }
  | { readonly kind: "not"; readonly filter: Filter }
  | { readonly kind: "prefix"; readonly path: ParsedPath; readonly prefix: string }
  | RangeFilter;

/** Lists that have a member of these; a path may lead through lists. */
export interface ContainsFilter {
  readonly kind: "contains";
  readonly path: ParsedPath;
  readonly values: readonly ScalarValue[];
}

/** A range of numbers or of strings; at least one bound is set, both of one type. */
export interface RangeFilter {
  readonly kind: "range";
  readonly path: ParsedPath;
  readonly lower: Bound | undefined;
  readonly upper: Bound | undefined;
}

/** One end of a range. */
export interface Bound {
  readonly value: number | string;
  readonly inclusive: boolean;
}

const maxDepth = 32;
const maxConditions = 500;
const maxList = 10_000;

/** Keeps the expression below the depth of 1,000 that SQLite allows. */
class Progress {
  conditions = 0;

  count(): void {
    this.conditions += 1;
    if (this.conditions > maxConditions) {
      throw wrong(`a filter has more than ${maxConditions} conditions`);
    }
  }
}

/**
 * Checks a filter and brings it into its canonical form.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseFilter(where: unknown): Filter {
  return parseObject(where, 1, new Progress());
}

function parseObject(where: unknown, depth: number, progress: Progress): Filter {
  if (!isPlainObject(where)) throw wrong("a filter must be a plain object");
  if (depth > maxDepth) throw wrong(`a filter is nested deeper than ${maxDepth} levels`);
  const filters: Filter[] = [];
  for (const [key, value] of Object.entries(where)) {
    if (key === "and" || key === "or") {
      if (!Array.isArray(value)) throw wrong(`"${key}" takes a list of filters`);
      const { conditions } = progress;
      const members = value.map((item: unknown) => parseObject(item, depth + 1, progress));
      // A group counts for its members.
      if (progress.conditions === conditions) progress.count();
      filters.push({ kind: key === "and" ? "all" : "any", filters: members });
    } else if (key === "not") {
      progress.count();
      filters.push({ kind: "not", filter: parseObject(value, depth + 1, progress) });
    } else {
      parseCondition(parsePath(key), value, { filters, progress });
    }
  }
  const [only] = filters;
  return only !== undefined && filters.length === 1 ? only : { kind: "all", filters };
}

/** Each name of a path may be that of a list, whose members are read one after the other. */
function countSteps({ segments }: ParsedPath, progress: Progress): void {
  for (const _name of segments.slice(1)) progress.count();
}

function parseCondition(
  path: ParsedPath,
  condition: unknown,
  { filters, progress }: { readonly filters: Filter[]; readonly progress: Progress },
): void {
  if (!isPlainObject(condition)) {
    progress.count();
    filters.push({ kind: "equals", path, values: [scalar(path, condition)] });
    return;
  }
  const bounds: { lower: Bound[]; upper: Bound[] } = { lower: [], upper: [] };
  const operators = Object.entries(condition);
  if (operators.length === 0) throw wrong("a condition without operators", path);
  for (const [operator, value] of operators) {
    progress.count();
    switch (operator) {
      case "eq":
        filters.push({ kind: "equals", path, values: [scalar(path, value)] });
        break;
      case "ne":
        filters.push(not({ kind: "equals", path, values: [scalar(path, value)] }));
        break;
      case "in":
        filters.push({ kind: "equals", path, values: scalars(path, value) });
        break;
      case "notIn":
        filters.push(not({ kind: "equals", path, values: scalars(path, value) }));
        break;
      case "contains":
        countSteps(path, progress);
        filters.push({ kind: "contains", path, values: [scalar(path, value)] });
        break;
      case "containsAny":
        countSteps(path, progress);
        filters.push({ kind: "contains", path, values: scalars(path, value) });
        break;
      case "exists": {
        if (typeof value !== "boolean") throw wrong('"exists" takes true or false', path);
        filters.push(value ? { kind: "exists", path } : not({ kind: "exists", path }));
        break;
      }
      case "prefix": {
        if (typeof value !== "string") throw wrong('"prefix" takes a string', path);
        filters.push({ kind: "prefix", path, prefix: wellFormed(path, value) });
        break;
      }
      case "gt":
      case "gte":
        bounds.lower.push({
          value: comparable(path, operator, value),
          inclusive: operator === "gte",
        });
        break;
      case "lt":
      case "lte":
        bounds.upper.push({
          value: comparable(path, operator, value),
          inclusive: operator === "lte",
        });
        break;
      default:
        throw wrong(`unknown operator ${JSON.stringify(operator.slice(0, 32))}`, path);
    }
  }
  pushRanges(path, bounds, filters);
}

/** Joins a lower and an upper bound of the same type, so that an index is searched between them. */
function pushRanges(
  path: ParsedPath,
  { lower, upper }: { readonly lower: readonly Bound[]; readonly upper: Bound[] },
  filters: Filter[],
): void {
  for (const bound of lower) {
    const partner = upper.findIndex((other) => typeof other.value === typeof bound.value);
    const [match] = partner === -1 ? [] : upper.splice(partner, 1);
    filters.push({ kind: "range", path, lower: bound, upper: match });
  }
  for (const bound of upper) filters.push({ kind: "range", path, lower: undefined, upper: bound });
}

function not(filter: Filter): Filter {
  return { kind: "not", filter };
}

function scalars(path: ParsedPath, values: unknown): readonly ScalarValue[] {
  if (!Array.isArray(values)) throw wrong('"in", "notIn" and "containsAny" take a list', path);
  if (values.length > maxList) throw wrong(`a list of more than ${maxList} values`, path);
  return values.map((value: unknown) => scalar(path, value));
}

function scalar(path: ParsedPath, value: unknown): ScalarValue {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return wellFormed(path, value);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrong("expected a string, a finite number, a boolean or null", path);
}

function comparable(path: ParsedPath, operator: string, value: unknown): number | string {
  if (typeof value === "string") return wellFormed(path, value);
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw wrong(`"${operator}" takes a finite number or a string`, path);
}

function wellFormed(path: ParsedPath, value: string): string {
  if (value.isWellFormed() && !value.includes("\0")) return value;
  throw wrong("compared with a string that has U+0000 or a lone surrogate", path);
}

function wrong(reason: string, path?: ParsedPath): InputError {
  return path === undefined
    ? queryError(reason)
    : queryError(`the filter of "${path.text}" is invalid: ${reason}`, path.text);
}
