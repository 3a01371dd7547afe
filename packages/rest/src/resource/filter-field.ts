import { check } from "../errors.ts";
import type { JsonSchema } from "../schema.ts";
import { type FilterType, filterTypeOf } from "./filter-value.ts";

/** A field that lists may be filtered by. */
export interface FilterField {
  /** Its path, with dots between the levels. */
  readonly path: string;
  readonly type: FilterType;
}

/**
 * Finds the type of a field to filter by.
 *
 * @throws RestError `ERR_REST_DEFINITION` for one that the schema lacks or whose values no text can
 * stand for.
 */
export function filterField(
  path: string,
  properties: Readonly<Record<string, JsonSchema>>,
): FilterField {
  const schema = path
    .split(".")
    .reduce<JsonSchema | undefined>(
      (at, name, depth) => propertyOf(depth === 0 ? properties : at?.["properties"], name),
      {},
    );
  check(schema !== undefined, `there is no field ${path} to filter by`);
  const isWord = ["and", "or", "not"].includes(path);
  check(!isWord, `a field called ${path} cannot be filtered by`);
  const type = filterTypeOf(schema);
  check(
    type !== undefined,
    `${path} has values of several types, by which nothing can be filtered`,
  );
  return { path, type };
}

function propertyOf(properties: unknown, name: string): JsonSchema | undefined {
  if (typeof properties !== "object" || properties === null) return undefined;
  if (!Object.hasOwn(properties, name)) return undefined;
  const property: unknown = Reflect.get(properties, name);
  return typeof property === "object" && property !== null ? { ...property } : undefined;
}
