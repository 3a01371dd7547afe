import type { ContainsFilter, Filter } from "../../query/filter.ts";
import type { ParsedSelection } from "../../query/parse-query.ts";
import type { Layout, Selected } from "../layout.ts";

/** Of more values than these it takes as long to look each up as to look at documents one after the other. */
const maxValues = 32;

/** Separates from a filter the members of lists that documents can be found by, where nothing else finds them. */
export function separateMembers<S extends ParsedSelection>(
  layout: Layout,
  selection: S,
): S & Selected {
  const { filter, near, words, deleted } = selection;
  const isOther = near !== undefined || words.length > 0 || deleted !== "exclude";
  if (filter === undefined || isOther) return selection;
  const all = filter.kind === "all" ? filter.filters : [filter];
  const members = all.filter((each) => isIndexed(layout, each));
  if (members.length === 0) return selection;
  const rest = all.filter((each) => !isIndexed(layout, each));
  const [only] = rest;
  const remaining: Filter | undefined =
    only === undefined || rest.length === 1 ? only : { kind: "all", filters: rest };
  return { ...selection, members, filter: remaining };
}

function isIndexed({ listIndexed }: Layout, filter: Filter): filter is ContainsFilter {
  return (
    filter.kind === "contains" &&
    filter.values.length > 0 &&
    filter.values.length <= maxValues &&
    listIndexed.has(filter.path.text)
  );
}
