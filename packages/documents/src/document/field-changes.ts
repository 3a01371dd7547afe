import type { Stored } from "../api/document.ts";
import { InputError } from "../api/errors.ts";
import { type ParsedPath, valueAt } from "../api/field-path.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { ownFields } from "./change.ts";
import { sumDecimals } from "./decimal-sum.ts";

/** Change of the value of a field. */
export interface FieldChange {
  readonly path: ParsedPath;
  /** Returns the new value; `undefined` keeps a field that is missing. */
  readonly change: (value: unknown) => unknown;
}

/**
 * Changes some fields of a document and returns its own fields.
 *
 * @throws {InputError} `ERR_DOCUMENTS_VALUE`
 */
export function changeFields(
  stored: Stored<unknown>,
  changes: readonly FieldChange[],
): Record<string, unknown> {
  let fields = ownFields(stored);
  for (const { path, change } of changes) {
    const before = valueAt(fields, path.segments);
    const after = change(before);
    if (after !== before) fields = withValue(fields, path, after);
  }
  return fields;
}

/** Adds to a number. */
export function adding(path: ParsedPath, summand: number): FieldChange {
  return {
    path,
    change: (value) => {
      const before = value ?? 0;
      if (typeof before !== "number") throw unfit(path, "is not a number");
      return sumDecimals([String(before), String(summand)]);
    },
  };
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
