import type { Change, Stored } from "../api/document.ts";
import { isMetaField } from "../api/field-path.ts";
import { isPlainObject } from "../is-plain-object.ts";

/** Merges a change into a document at the top level. */
export function mergeFields(
  stored: Stored<unknown>,
  change: {
    readonly fields: Readonly<Record<string, unknown>>;
    readonly removed: readonly string[];
  },
): unknown {
  const merged: Record<string, unknown> = { ...ownFields(stored), ...change.fields };
  for (const name of change.removed) Reflect.deleteProperty(merged, name);
  return merged;
}

/** Returns the fields of a document without those of the store. */
export function ownFields(stored: Stored<unknown>): Record<string, unknown> {
  const {
    id: _id,
    version: _version,
    createdAt: _created,
    updatedAt: _updated,
    ...fields
  } = stored;
  return fields;
}

/** Merges the fields that a function returns, of which `undefined` removes one; if any. */
export function mergeChange<T>(
  change: (stored: Stored<T>) => Change<T>,
  stored: Stored<T>,
): unknown {
  // The function may change the object that it gets.
  const before = { ...stored };
  const fields = applyChange(change, stored);
  if (!isPlainObject(fields)) return fields;
  const names = Object.keys(fields);
  if (names.length === 0) return undefined;
  const removed = names.filter((name) => fields[name] === undefined);
  return mergeFields(before, { fields, removed });
}

/** Applies a function to a stored document, and removes the store's own fields from the result. */
export function applyChange<T>(change: (stored: Stored<T>) => unknown, stored: Stored<T>): unknown {
  const { id, version, createdAt, updatedAt } = stored;
  return withoutMeta(change(stored), { id, version, createdAt, updatedAt }) ?? null;
}

/** Takes the store's own fields off again, with which `{ ...stored, title }` comes back. */
function withoutMeta(document: unknown, meta: Readonly<Record<string, unknown>>): unknown {
  if (!isPlainObject(document)) return document;
  return Object.fromEntries(
    Object.entries(document).filter(([name, value]) => !isMetaField(name) || value !== meta[name]),
  );
}
