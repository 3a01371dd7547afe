import type { CollectionDefinition } from "../../api/definition.ts";
import {
  findingIndexes,
  hasConditions,
  memberIndex,
  orderedIndex,
  valueIndexes,
} from "../../query/serving-indexes.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { Layout } from "../layout.ts";
import { type CountPlan, type ReadPlan, selectsWhole } from "./find.ts";

/**
 * Whether a plan may read many more documents than it returns, by its shape: a search, a filter or
 * an order that no index serves, or a count without a bound of what is not counted already, or a
 * summary.
 */
export function mayScan(layout: Layout, { find, count, groups, distinct }: ReadPlan): boolean {
  const { definition } = layout;
  if (groups !== undefined || distinct !== undefined) return true;
  if (count !== undefined && isCounted(layout, count)) return true;
  return find !== undefined && isUnserved(definition, find.query);
}

/** Whether counting may read many documents. */
function isCounted(layout: Layout, count: CountPlan): boolean {
  const isKept = selectsWhole(layout, count) && layout.readTotal?.() !== undefined;
  return !isKept && (count.max === undefined || isUnserved(layout.definition, count));
}

function isUnserved(
  definition: CollectionDefinition<unknown>,
  { filter, words, near, order, limit }: ParsedSelection & Partial<ParsedQuery>,
): boolean {
  if (words.length > 0) return true;
  if (near !== undefined) return hasConditions(filter);
  const indexes = valueIndexes(definition);
  if (hasConditions(filter)) {
    return !memberIndex(filter, indexes) && findingIndexes(filter, indexes) === undefined;
  }
  // Without a limit every document is returned.
  return limit !== undefined && order !== undefined && !orderedIndex(undefined, order, indexes);
}
