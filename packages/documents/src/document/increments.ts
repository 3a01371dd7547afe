import type { Stored } from "../api/document.ts";
import { InputError, queryError, reservedError } from "../api/errors.ts";
import { type ParsedPath, parsePath, valueAt } from "../api/field-path.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { ownFields } from "./change.ts";
import { sumDecimals } from "./decimal-sum.ts";

/** A number to add to a field. */
interface Increment {
  readonly path: ParsedPath;
  readonly summand: number;
}

const maxFields = 100;

/**
 * Checks numbers that are to be added to fields.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY` or `ERR_DOCUMENTS_NAME`
 */
export function parseIncrements(fields: unknown): readonly Increment[] {
  const entries = isPlainObject(fields) ? Object.entries(fields) : [];
  if (entries.length === 0 || entries.length > maxFields) {
    throw queryError(`expected an object with 1 to ${maxFields} fields to change`);
  }
  return entries.map(([field, summand]) => {
    const path = parsePath(field);
    if (path.meta !== undefined) throw reservedError(field);
    if (typeof summand === "number" && Number.isFinite(summand)) return { path, summand };
    throw queryError(`what is added to "${field}" must be a finite number`, field);
  });
}

/**
 * Adds to the numbers of a document and returns its own fields.
 *
 * @throws {InputError} `ERR_DOCUMENTS_VALUE`
 */
export function incrementFields(
  stored: Stored<unknown>,
  increments: readonly Increment[],
): Record<string, unknown> {
  let fields = ownFields(stored);
  for (const { path, summand } of increments) {
    const before = valueAt(fields, path.segments) ?? 0;
    if (typeof before !== "number") throw unfit(path, "is not a number");
    fields = withValue(fields, path, sumDecimals([String(before), String(summand)]));
  }
  return fields;
}

/** Copies what is around a field; the values of computed names are defined, not assigned. */
function withValue(
  fields: Record<string, unknown>,
  path: ParsedPath,
  value: unknown,
  depth = 0,
): Record<string, unknown> {
  const name = path.segments[depth] ?? "";
  if (depth === path.segments.length - 1) return { ...fields, [name]: value };
  const inner = (Object.hasOwn(fields, name) ? fields[name] : undefined) ?? {};
  if (!isPlainObject(inner)) throw unfit(path, "is inside of a value that is not an object");
  return { ...fields, [name]: withValue(inner, path, value, depth + 1) };
}

function unfit({ text }: ParsedPath, reason: string): InputError {
  const shown = text.slice(0, 120);
  return new InputError("ERR_DOCUMENTS_VALUE", `the field ${shown} ${reason}`, shown);
}
