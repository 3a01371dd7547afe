import { maxSearchLength } from "@fetchwork/documents";
import { fieldError, type FieldError } from "../field-error.ts";
import {
  type CalledParameters,
  defaultLimit,
  type ListQuery,
  type ListRules,
  maxLimit,
  type StandardParameter,
} from "../resource/list-rules.ts";
import { readNear } from "./near.ts";
import { namesIn, readFields, readSort, signed } from "./sort-and-fields.ts";

/** Longest cursor, in characters. */
const maxCursorLength = 4_096;

/** Values of the parameters of a query, by name. */
export type GivenValues = ReadonlyMap<string, readonly string[]>;

/** Values of a query, parameter by parameter, for a reader. */
interface Given {
  readonly errors: FieldError[];
  /** The one value of a standard parameter, empty or not. */
  raw(name: StandardParameter): string | undefined;
  /** The one value of a standard parameter, unless it is empty. */
  one(name: StandardParameter): string | undefined;
  /** All values of a standard parameter, taken apart at commas. */
  list(name: StandardParameter): readonly string[];
}

/** Refuses a parameter that is given twice. */
export function once(name: string): FieldError {
  return fieldError(name, "once", `${name} must be given once`);
}

const none: readonly string[] = [];

function givenIn(values: GivenValues, names: CalledParameters, errors: FieldError[]): Given {
  const valuesOf = (parameter: StandardParameter): readonly string[] => {
    const name = names.get(parameter);
    return name === undefined ? none : (values.get(name) ?? none);
  };
  const raw = (parameter: StandardParameter): string | undefined => {
    const all = valuesOf(parameter);
    if (all.length > 1) errors.push(once(names.get(parameter) ?? parameter));
    return all[0];
  };
  return {
    errors,
    raw,
    one: (parameter) => raw(parameter) || undefined,
    list(parameter) {
      const all = valuesOf(parameter);
      return all.length === 0 ? none : namesIn(all);
    },
  };
}

/** Input of {@link readStandard}. */
export interface Reading {
  readonly rules: ListRules;
  readonly names: CalledParameters;
  readonly errors: FieldError[];
}

/** Reads the standard parameters; what is wrong with them is added to the errors. */
export function readStandard(
  values: GivenValues,
  { rules, names, errors }: Reading,
): Omit<ListQuery, "where"> {
  const given = givenIn(values, names, errors);
  const { defaultLimit: fallback = defaultLimit, maxLimit: max = maxLimit, geo } = rules;
  const called = (parameter: StandardParameter): string => names.get(parameter) ?? parameter;
  const q = readText(given.one("q"), { name: called("q"), max: maxSearchLength }, errors);
  const pageText = given.one("page");
  // Page numbers beyond this would leave the safe integers when multiplied with a limit.
  const maxPage = Math.floor(Number.MAX_SAFE_INTEGER / max);
  const page = readInteger(pageText, { name: called("page"), max: maxPage }, errors) ?? 1;
  const limit = readInteger(given.one("limit"), { name: called("limit"), max }, errors);
  const after = readCursor(given, called("after"));
  const sorts = given.list("sort");
  const sort = readSort(sorts, { name: called("sort"), rules }, errors);
  const fields = readFields(given.list("fields"), { name: called("fields"), rules }, errors);
  const near = geo === undefined ? undefined : readNear(given, { field: geo, called });
  if (near && sorts.length > 0) {
    const message = `${called("sort")} and ${called("near")} exclude one another`;
    errors.push(fieldError(called("sort"), "mixed", message));
  }
  if (after !== undefined && pageText !== undefined) {
    const message = `${called("page")} and ${called("after")} exclude one another`;
    errors.push(fieldError(called("page"), "mixed", message));
  }
  // The cursor holds the values of the fields that were sorted by, readable for everyone.
  const inCursor = near ? [] : sort;
  const unseen = inCursor.find((key) => !isShown(signed(key).name, rules));
  if (after !== undefined && unseen !== undefined) {
    const message = `${called("after")} is not possible in the order of ${signed(unseen).name}`;
    errors.push(fieldError(called("after"), "invalid", message));
  }
  // A list without numbered pages is paged by cursors from the start.
  const begins = !names.has("page") && names.has("after") && unseen === undefined;
  const trash = readTrash(given.one("trash"), called("trash"), errors);
  return {
    q,
    page,
    limit: limit ?? fallback,
    after: after ?? (begins ? "" : undefined),
    sort,
    fields,
    near,
    trash,
  };
}

function isShown(field: string, { selectable }: ListRules): boolean {
  return field === "id" || selectable.includes(field);
}

function readText(
  text: string | undefined,
  { name, max }: { readonly name: string; readonly max: number },
  errors: FieldError[],
): string | undefined {
  if (text !== undefined && text.length > max) {
    const message = `${name} must have length lower than or equal to ${max}`;
    errors.push(fieldError(name, "maxlength", message));
  }
  return text;
}

function readInteger(
  value: string | undefined,
  { name, max }: { readonly name: string; readonly max: number },
  errors: FieldError[],
): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (number < 1) {
    errors.push(fieldError(name, "min", `${name} must be greater than or equal to 1`));
  } else if (number > max) {
    errors.push(fieldError(name, "max", `${name} must be lower than or equal to ${max}`));
  } else if (!Number.isInteger(number)) {
    errors.push(fieldError(name, "type", `${name} must be of type integer`));
  }
  return number;
}

/** Without a value it is there all the same: that is how paging by cursors begins. */
function readCursor(given: Given, name: string): string | undefined {
  return readText(given.raw("after"), { name, max: maxCursorLength }, given.errors);
}

function readTrash(
  text: string | undefined,
  name: string,
  errors: FieldError[],
): "only" | "with" | undefined {
  if (text === undefined || text === "only" || text === "with") return text;
  errors.push(fieldError(name, "enum", `${name} must be one of: only, with`));
  return undefined;
}
