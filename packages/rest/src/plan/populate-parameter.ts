import { fieldError } from "../field-error.ts";
import { badFields } from "../problem.ts";
import { populateName } from "../resource/list-rules.ts";
import type { Resource } from "../resource/resource.ts";
import type { QueryParameter } from "./route.ts";
import { namesIn } from "./sort-and-fields.ts";

/** Relations to follow, each with those to follow from there. */
export type PopulateTree = ReadonlyMap<string, PopulateTree>;

/**
 * Reads `populate`; `undefined` when there is none.
 *
 * @throws Problem 400 for a path that the resource does not declare.
 */
export function readPopulate(
  { relations: { paths } }: Resource,
  query: URLSearchParams,
): PopulateTree | undefined {
  if (paths.length === 0 || !query.has(populateName)) return undefined;
  const asked = namesIn(query.getAll(populateName));
  if (asked.some((path) => !paths.includes(path))) {
    const message = `populate must be one of: ${paths.join(", ")}`;
    throw badFields([fieldError(populateName, "enum", message)]);
  }
  if (asked.length === 0) return undefined;
  const tree = new Map<string, PopulateTree>();
  for (const path of asked) {
    let at: Map<string, PopulateTree> = tree;
    for (const name of path.split(".")) {
      const next = new Map(at.get(name));
      at.set(name, next);
      at = next;
    }
  }
  return tree;
}

/** Makes parameters without `populate`, for readers of the others. */
export function withoutPopulate({ relations }: Resource, query: URLSearchParams): URLSearchParams {
  if (relations.paths.length === 0 || !query.has(populateName)) return query;
  const others = new URLSearchParams(query);
  others.delete(populateName);
  return others;
}

/** Describes `populate`, where a resource has it. */
export function populateReference({ relations: { paths } }: Resource): readonly QueryParameter[] {
  if (paths.length === 0) return [];
  const description = `Relations whose documents are shown, separated by commas: ${paths.join(", ")}`;
  return [{ name: populateName, description, schema: { type: "string" } }];
}
