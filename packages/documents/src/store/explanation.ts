import type { CollectionDefinition } from "../api/definition.ts";
import { checkOptions } from "../api/check-options.ts";
import { optionError } from "../api/errors.ts";
import type { ExplainOptions, Explanation, ServingIndex } from "../api/explanation.ts";
import { type ReadPlan, selectionOf } from "../engines/operations/find.ts";
import type { Filter } from "../query/filter.ts";
import { parseAggregate } from "../query/parse-aggregate.ts";
import {
  type GivenQuery,
  type OrderTerm,
  parseCount,
  type ParsedQuery,
  type ParsedSelection,
  parseFind,
  parsePage,
} from "../query/parse-query.ts";
import {
  conjunctsOf,
  equalFields,
  fieldsOf,
  findingIndexes,
  hasConditions,
  hasOneDirection,
  type IndexFields,
  indexesFor,
  memberIndex,
  orderedIndex,
  orderFields,
  valueIndexes,
} from "../query/serving-indexes.ts";

/** Indexes and orders that serve a query. */
interface Service {
  readonly indexes: readonly ServingIndex[];
  /** Whether indexes find the documents. */
  readonly finds: boolean;
  readonly sorts: boolean;
}

/** Query to explain. */
interface Subject {
  readonly definition: CollectionDefinition<unknown>;
  readonly selection: ParsedSelection;
  /** The filter, if it has a condition. */
  readonly filter: Filter | undefined;
  /** Undefined for a count. */
  readonly find: ParsedQuery | undefined;
  /** The order, where documents are not sorted by their distance. */
  readonly order: readonly OrderTerm[] | undefined;
}

/**
 * Checks a query as its method does. The plan is of the first page, since those after it cost the
 * same.
 *
 * @throws {InputError} `ERR_DOCUMENTS_QUERY`
 * @throws {DocumentsTypeError} `ERR_DOCUMENTS_OPTIONS`
 */
export function parseExplain(query: GivenQuery, options: ExplainOptions): ReadPlan {
  checkOptions("explain", options, ["method"]);
  const { method = "find" } = options;
  switch (method) {
    case "find":
      return { find: { query: parseFind(query), after: undefined } };
    case "count":
      return { count: parseCount(query) };
    case "aggregate":
      return { groups: parseAggregate(query) };
    case "page": {
      const { parsed, limit, total } = parsePage(query);
      const max = typeof total === "number" ? total + 1 : undefined;
      return {
        find: { query: { ...parsed, limit: limit + 1 }, after: undefined },
        count: total === "none" ? undefined : { ...parsed, max },
      };
    }
    default:
      throw optionError('"method" must be "find", "page", "count" or "aggregate"');
  }
}

/** Derives from the form of a query how the indexes of the definition serve it. */
export function explanationOf(
  definition: CollectionDefinition<unknown>,
  plan: ReadPlan,
): Explanation {
  const find = plan.find?.query;
  const selection = selectionOf(plan) ?? { filter: undefined, words: [], deleted: "exclude" };
  const filter = hasConditions(selection.filter) ? selection.filter : undefined;
  const order = selection.near === undefined ? find?.order : undefined;
  const subject = { definition, selection, filter, find, order };
  const service = lookupService(subject) ?? possibleService(subject);
  const sorts = service.sorts && !isWalked(subject);
  // Without a condition only a query that sorts reads more than it returns.
  const scans = isSelective(selection) ? !service.finds : sorts && find?.limit !== undefined;
  return {
    indexes: distinct(service.indexes),
    scans,
    sorts,
    warnings: [...warnOfScan(subject, { scans }), ...warnOfOrder(subject, { scans, sorts })],
  };
}

/** Whether a query does not select every document. */
function isSelective({ filter, words, near }: ParsedSelection): boolean {
  return hasConditions(filter) || words.length > 0 || near !== undefined;
}

/**
 * Whether documents are taken in the order of an index while many have the words or conditions.
 * They are sorted only while few have: see `selectSearched`.
 */
function isWalked({ definition, selection, filter, find, order }: Subject): boolean {
  const known = valueIndexes(definition);
  const all = filter === undefined ? [] : conjunctsOf(filter);
  const isFound = all.some((each) => each.kind !== "any" && findingIndexes(each, known));
  if (selection.words.length === 0 && !isFound) return false;
  if (find?.limit === undefined || order === undefined) return false;
  return orderedIndex(undefined, order, known) !== undefined;
}

/** Derives what the engine does as the collection grows: a small one may be read through. */
function possibleService({ definition, selection, filter, order }: Subject): Service {
  const { near, words } = selection;
  if (near !== undefined) {
    return { indexes: [{ kind: "geo", fields: [near.field] }], finds: true, sorts: false };
  }
  const known = valueIndexes(definition);
  const ordered =
    order === undefined || words.length > 0 ? undefined : orderedIndex(filter, order, known);
  if (ordered !== undefined) {
    return { indexes: [ordered], finds: filter !== undefined, sorts: false };
  }
  const sorts = order !== undefined;
  if (words.length > 0) {
    return { indexes: [{ kind: "search", fields: definition.search }], finds: true, sorts };
  }
  const found = filter === undefined ? undefined : findingIndexes(filter, known);
  if (found !== undefined) return { indexes: found, finds: true, sorts };
  // All of an index in this order can be read in its place.
  const isInOrder = order !== undefined && orderedIndex(undefined, order, known) !== undefined;
  return { indexes: [], finds: false, sorts: sorts && !isInOrder };
}

/**
 * Derives what finds documents by members of their lists. The statement that is run depends on how
 * many have them, so the plan of one does not say it: see `selectSearched`.
 */
function lookupService({ definition, selection, filter, order }: Subject): Service | undefined {
  const { words, near, deleted } = selection;
  if (words.length > 0 || near !== undefined || deleted !== "exclude") return undefined;
  const known = valueIndexes(definition);
  const index = memberIndex(filter, known);
  if (index === undefined) return undefined;
  const isOrdered = order === undefined || orderedIndex(undefined, order, known) !== undefined;
  return { indexes: [index], finds: true, sorts: !isOrdered };
}

function distinct(indexes: readonly ServingIndex[]): readonly ServingIndex[] {
  return [...new Map(indexes.map((index) => [JSON.stringify(index), index])).values()];
}

function warnOfScan(
  { definition, selection, filter }: Subject,
  { scans }: { readonly scans: boolean },
): readonly string[] {
  if (!scans || !isSelective(selection)) return [];
  const every = `every document of "${definition.name}" is read`;
  if (filter !== undefined) {
    const fields = listed(fieldsOf(filter));
    const indexes = indexesFor(filter);
    return indexes === undefined
      ? [`no index can serve this filter by ${fields}: ${every}`]
      : [`no index serves the filter by ${fields}: ${every}${toDeclare(indexes, definition)}`];
  }
  return [`no index serves this query: ${every}`];
}

function warnOfOrder(
  { definition, selection, filter, order }: Subject,
  { scans, sorts }: { readonly scans: boolean; readonly sorts: boolean },
): readonly string[] {
  if (!sorts || order === undefined) return [];
  const fields = listed(orderFields(order));
  const index = indexOfOrder(selection, filter, order);
  const declare = toDeclare(index === undefined ? [] : [index], definition);
  if (!isSelective(selection)) {
    const every = `every document of "${definition.name}" is read and sorted`;
    return [`no index serves the order by ${fields}: ${every}${declare}`];
  }
  // The first concern is that documents are found at all without reading every one.
  if (scans) return [];
  const hint = declare === "" ? "" : `${declare} to read them in order`;
  return [`every document found is sorted by ${fields}${hint}`];
}

/** Returns the index that would find documents in order; undefined where none can. */
function indexOfOrder(
  { words }: ParsedSelection,
  filter: Filter | undefined,
  order: readonly OrderTerm[],
): IndexFields | undefined {
  if (words.length > 0 || !hasOneDirection(order)) return undefined;
  const equal = equalFields(filter);
  if (filter !== undefined && equal.length === 0) return undefined;
  return [...new Set([...equal, ...orderFields(order)])];
}

/** Writes what to declare; nothing where all of it is declared. */
function toDeclare(
  indexes: readonly IndexFields[],
  definition: CollectionDefinition<unknown>,
): string {
  const declared = new Set(valueIndexes(definition).map(({ fields }) => listed(fields)));
  const missing = indexes.filter((fields) => !declared.has(listed(fields)));
  if (missing.length === 0) return "";
  const entries = missing.map((fields) =>
    fields.length === 1 ? listed(fields) : `[${listed(fields)}]`,
  );
  return `, declare indexes: [${entries.join(", ")}]`;
}

function listed(fields: IndexFields): string {
  return fields.map((field) => JSON.stringify(field)).join(", ");
}
