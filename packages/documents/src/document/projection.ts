import { isObject } from "@fetchwork/kit";
import type { Projected, Stored } from "../api/document.ts";
import { type ParsedPath, valueAt } from "../api/field-path.ts";

/** Copies some fields of a document, nested as they are in it, and always `id`. */
export function project(document: unknown, paths: readonly ParsedPath[]): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  define(result, "id", valueAt(document, ["id"]));
  for (const { segments } of paths) {
    const value = valueAt(document, segments);
    if (value !== undefined) setAt(result, segments, value);
  }
  return result;
}

/** Returns the stored document, or the part of it that was asked for. */
export function projected<T>(
  stored: Stored<T>,
  fields: readonly ParsedPath[] | undefined,
): Projected<T> | Stored<T> {
  if (fields === undefined) return stored;
  // Some of the fields of a Stored<T>, by the paths that the caller gave.
  return project(stored, fields) as Projected<T>;
}

function setAt(target: Record<string, unknown>, segments: readonly string[], value: unknown): void {
  let object = target;
  for (const [index, name] of segments.entries()) {
    if (index === segments.length - 1) {
      define(object, name, value);
      return;
    }
    let next = Object.hasOwn(object, name) ? object[name] : undefined;
    if (!isObject(next)) {
      next = {};
      define(object, name, next);
    }
    if (!isObject(next)) return;
    object = next;
  }
}

/** Defines instead of assigning, because assigning to `__proto__` would change the prototype. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
