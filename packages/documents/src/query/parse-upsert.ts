import type { CollectionDefinition } from "../api/definition.ts";
import { type InputError, queryError } from "../api/errors.ts";
import { parsePath, valueAt } from "../api/field-path.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import type { Filter } from "./filter.ts";

/**
 * Checks which document an upsert means: its id, or the values of a unique index's fields.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 */
export function parseUpsert(
  definition: CollectionDefinition<unknown>,
  document: unknown,
  options: { readonly id?: unknown; readonly by?: unknown; readonly change?: unknown },
): { readonly id: string | undefined; readonly filter: Filter } {
  checkQueryOptions("upsert", options, ["id", "by", "change"]);
  const { id, by } = options;
  if ((id === undefined) === (by === undefined)) throw wrong('an upsert takes "id" or "by"');
  if (id !== undefined) {
    if (typeof id !== "string") throw wrong('"id" must be a string');
    return { id, filter: { kind: "any", filters: [] } };
  }
  const given: readonly unknown[] = Array.isArray(by) ? by : [by];
  const fields = definition.unique.find(
    (unique) => unique.length === given.length && unique.every((field) => given.includes(field)),
  );
  if (fields === undefined)
    throw wrong('"by" must name the fields of a unique index of the definition');
  const filters = fields.map((field): Filter => {
    const path = parsePath(field);
    const value = valueAt(document, path.segments);
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      throw wrong(`the field "${field}" of "by" must be a string, a number or a boolean`);
    }
    return { kind: "equals", path, values: [value] };
  });
  return { id: undefined, filter: { kind: "all", filters } };
}

function wrong(reason: string): InputError {
  return queryError(`the upsert is invalid: ${reason}`);
}
