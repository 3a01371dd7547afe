import type { Stored } from "../api/document.ts";
import { InputError } from "../api/errors.ts";
import { type ParsedPath, valueAt } from "../api/field-path.ts";
import { isPlainObject } from "../is-plain-object.ts";
import { ownFields } from "./change.ts";
import { sumDecimals } from "./decimal-sum.ts";

/** What to make of the value of a field. @internal */
export interface FieldChange {
  readonly path: ParsedPath;
  /** Returns the new value; `undefined` keeps a field that is missing. */
  readonly change: (value: unknown) => unknown;
}

/**
 * Changes some fields of a document and returns its own fields.
 *
 * @internal
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

/** Adds to a number. @internal */
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

/** Adds members to a list. @internal */
export function pushing(path: ParsedPath, members: readonly unknown[]): FieldChange {
  return { path, change: (value) => [...listOf(path, value), ...members] };
}

/** Adds those members to a list that it does not have. @internal */
export function pushingUnique(path: ParsedPath, members: readonly unknown[]): FieldChange {
  return {
    path,
    change: (value) => {
      const list = [...listOf(path, value)];
      const known = new Set(list.map(identityOf));
      for (const member of members) {
        const identity = identityOf(member);
        if (!known.has(identity)) list.push(member);
        known.add(identity);
      }
      return list;
    },
  };
}

/** Removes members from a list. @internal */
export function pulling(path: ParsedPath, members: readonly unknown[]): FieldChange {
  const pulled = new Set(members.map(identityOf));
  return {
    path,
    change: (value) => {
      if (value === undefined || value === null) return value;
      return listOf(path, value).filter((member) => !pulled.has(identityOf(member)));
    },
  };
}

function listOf(path: ParsedPath, value: unknown): readonly unknown[] {
  const list: unknown = value ?? [];
  if (Array.isArray(list)) return list;
  throw unfit(path, "is not a list");
}

/** Writes a value of JSON so that equal ones have the same text: engines return the fields of objects in different orders. */
function identityOf(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    isPlainObject(part)
      ? // Pairs, so that no name means anything to JavaScript, such as "1" or "__proto__".
        { sorted: Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)) }
      : part,
  );
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
