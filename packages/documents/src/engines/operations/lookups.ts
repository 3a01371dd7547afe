import type { ContainsFilter, Filter } from "../../query/filter.ts";
import type { OrderTerm, ParsedSelection } from "../../query/parse-query.ts";
import { conjunctsOf, orderedIndex, valueIndexes } from "../../query/serving-indexes.ts";
import type { ConditionLookup, Layout, Lookup, Selected } from "../layout.ts";

/** Beyond this many values, looking each up costs as much as reading documents. */
const maxValues = 32;

/** Separates members of lists that find documents, where nothing else finds them. */
export function separateMembers<S extends ParsedSelection>(
  layout: Layout,
  selection: S,
): S & Selected {
  const { filter, near, words, deleted } = selection;
  const isOther = near !== undefined || words.length > 0 || deleted !== "exclude";
  return filter === undefined || isOther ? selection : withoutMembers(layout, selection, filter);
}

/**
 * Separates from a filter what documents can be found by, where nothing else finds them: members of
 * lists and, in an engine that leaves it to the store, conditions of indexes. Without an `order`
 * documents are counted. A bounded read looks at documents one by one where nothing finds them.
 */
export function separateLookups<S extends ParsedSelection>(
  layout: Layout,
  selection: S,
  {
    order,
    isBounded = false,
  }: { readonly order?: readonly OrderTerm[]; readonly isBounded?: boolean | undefined },
): S & Selected {
  const { filter, near, words, deleted } = selection;
  if (!layout.searching.findsConditions) return separateMembers(layout, selection);
  if (filter === undefined || near !== undefined || deleted !== "exclude") return selection;
  const all = conjunctsOf(filter);
  const walked = walkedIn(layout, filter, order ?? []);
  const conditions = conditionsOf(layout, all);
  const [longest] = conditions;
  // One index has exactly these documents, in the order if there is one.
  const isServed = order === undefined ? longest?.filters.length : walked.length;
  if (words.length === 0 && (isServed === all.length || isUnique(layout, all))) return selection;
  const separated = withoutMembers(layout, selection, filter);
  if (longest === undefined && !isBounded) return separated;
  return {
    ...separated,
    conditions,
    walked: walked.length === 0 ? undefined : { kind: "all", filters: walked },
  };
}

/** Whether a lookup finds exactly what is selected. */
export function isWhole({ filter, members = [], words }: Selected, lookup: Lookup): boolean {
  const isOnly = words.length === 0 || lookup.kind === "words";
  if (lookup.kind === "conditions") {
    const all = filter === undefined ? [] : conjunctsOf(filter);
    return isOnly && members.length === 0 && all.length === lookup.filters.length;
  }
  return isOnly && filter === undefined && members.length < (lookup.kind === "words" ? 1 : 2);
}

function withoutMembers<S extends ParsedSelection>(
  layout: Layout,
  selection: S,
  filter: Filter,
): S & Selected {
  const all = conjunctsOf(filter);
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

/** Returns the conditions whose documents are contiguous in an ordered index: the most. */
function walkedIn(
  { definition }: Layout,
  filter: Filter,
  order: readonly OrderTerm[],
): readonly Filter[] {
  const [first] = order;
  if (first === undefined) return [];
  const ordered = valueIndexes(definition).filter(
    (index) => orderedIndex(filter, order, [index]) !== undefined,
  );
  const walked = ordered.map(({ fields }) =>
    conjunctsOf(filter).filter(
      (each) =>
        (isEqual(each) && fields.includes(each.path.text)) ||
        (isBetween(each) && each.path.text === first.path.text),
    ),
  );
  return walked.reduce((longest, next) => (next.length > longest.length ? next : longest), []);
}

/** Whether at most one document has the conditions. */
function isUnique({ definition: { unique } }: Layout, all: readonly Filter[]): boolean {
  const equal = all.filter(isEqual).filter(({ values: [value] }) => value !== null);
  const fields = new Set(equal.map(({ path }) => path.text));
  return [["id"], ...unique].some((names) => names.every((name) => fields.has(name)));
}

/** Lists what each index finds documents by, beginning with the one that takes most conditions. */
function conditionsOf({ definition }: Layout, all: readonly Filter[]): readonly ConditionLookup[] {
  const found = new Map<string, readonly Filter[]>();
  for (const { fields } of valueIndexes(definition)) {
    const filters: Filter[] = [];
    for (const field of fields) {
      const equal = all.find((each) => isEqual(each) && each.path.text === field);
      const last = equal ?? all.find((each) => isSought(each) && each.path.text === field);
      if (last !== undefined) filters.push(last);
      if (equal === undefined) break;
    }
    // Documents that two indexes find by the same conditions are looked for once.
    const key = String(
      filters.map((filter) => all.indexOf(filter)).toSorted((one, other) => one - other),
    );
    if (filters.length > 0) found.set(key, filters);
  }
  return [...found.values()]
    .toSorted((one, other) => other.length - one.length)
    .map((filters) => ({ kind: "conditions", filters }));
}

type Equals = Extract<Filter, { readonly kind: "equals" }>;
type Between = Extract<Filter, { readonly kind: "prefix" | "range" }>;

function isEqual(filter: Filter): filter is Equals {
  return filter.kind === "equals" && filter.values.length === 1;
}

function isBetween(filter: Filter): filter is Between {
  return filter.kind === "prefix" || filter.kind === "range";
}

/** Whether an index finds a condition by one search, or by one for each value. */
function isSought(filter: Filter): filter is Between | Equals {
  if (filter.kind === "equals")
    return filter.values.length > 0 && filter.values.length <= maxValues;
  return isBetween(filter);
}
