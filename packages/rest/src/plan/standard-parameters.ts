import { maxSearchLength } from "@fetchwork/documents";
import { fieldError, type FieldError } from "../field-error.ts";
import {
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

function givenIn(values: GivenValues, names: Reading["names"], errors: FieldError[]): Given {
  const valuesOf = (parameter: StandardParameter): readonly string[] =>
    (names.has(parameter) ? values.get(parameter) : undefined) ?? none;
  const raw = (parameter: StandardParameter): string | undefined => {
    const all = valuesOf(parameter);
    if (all.length > 1) errors.push(once(parameter));
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
  /** Parameters that the list has. */
  readonly names: ReadonlySet<StandardParameter>;
  readonly errors: FieldError[];
}

/** Reads the standard parameters; what is wrong with them is added to the errors. */
export function readStandard(
  values: GivenValues,
  { rules, names, errors }: Reading,
): Omit<ListQuery, "where"> {
  const given = givenIn(values, names, errors);
  const { defaultLimit: fallback = defaultLimit, maxLimit: max = maxLimit, geo } = rules;
  const q = readText(given.one("q"), { name: "q", max: maxSearchLength }, errors);
  const pageText = given.one("page");
  // Page numbers beyond this would leave the safe integers when multiplied with a limit.
  const maxPage = Math.floor(Number.MAX_SAFE_INTEGER / max);
  const page = readInteger(pageText, { name: "page", max: maxPage }, errors) ?? 1;
  const limit = readInteger(given.one("limit"), { name: "limit", max }, errors);
  // Without a value it is there all the same: that is how paging by cursors begins.
  const after = readText(given.raw("after"), { name: "after", max: maxCursorLength }, errors);
  const sorts = given.list("sort");
  const sort = readSort(sorts, rules, errors);
  const fields = readFields(given.list("fields"), rules, errors);
  const near = geo === undefined ? undefined : readNear(given, geo);
  if (near && sorts.length > 0) {
    errors.push(fieldError("sort", "mixed", "sort and near exclude one another"));
  }
  if (after !== undefined && pageText !== undefined) {
    errors.push(fieldError("page", "mixed", "page and after exclude one another"));
  }
  // The cursor holds the values of the fields that were sorted by, readable for everyone.
  const inCursor = near ? [] : sort;
  const unseen = inCursor.find((key) => !isShown(signed(key).name, rules));
  if (after !== undefined && unseen !== undefined) {
    const message = `after is not possible in the order of ${signed(unseen).name}`;
    errors.push(fieldError("after", "invalid", message));
  }
  // A list without numbered pages is paged by cursors from the start.
  const begins = !names.has("page") && names.has("after") && unseen === undefined;
  const trash = readTrash(given.one("trash"), errors);
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

function readTrash(text: string | undefined, errors: FieldError[]): "only" | "with" | undefined {
  if (text === undefined || text === "only" || text === "with") return text;
  errors.push(fieldError("trash", "enum", "trash must be one of: only, with"));
  return undefined;
}
