import type { CollectionDefinition } from "../../api/definition.ts";
import {
  findingIndexes,
  hasConditions,
  orderedIndex,
  valueIndexes,
} from "../../query/serving-indexes.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { ReadPlan } from "./find.ts";

/**
 * Whether a plan may read many more documents than it returns, by its shape: a search, a filter or an order that no index
 * serves, or a count without a bound.
 */
export function mayScan(
  definition: CollectionDefinition<unknown>,
  { find, count }: ReadPlan,
): boolean {
  if (count !== undefined && (count.max === undefined || isUnserved(definition, count)))
    return true;
  return find !== undefined && isUnserved(definition, find.query);
}

function isUnserved(
  definition: CollectionDefinition<unknown>,
  { filter, words, near, order, limit }: ParsedSelection & Partial<ParsedQuery>,
): boolean {
  if (words.length > 0) return true;
  if (near !== undefined) return hasConditions(filter);
  const indexes = valueIndexes(definition);
  if (hasConditions(filter)) return findingIndexes(filter, indexes) === undefined;
  // Without a limit every document is returned.
  return limit !== undefined && order !== undefined && !orderedIndex(undefined, order, indexes);
}
