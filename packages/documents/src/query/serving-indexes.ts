import type { CollectionDefinition } from "../api/definition.ts";
import type { ServingIndex } from "../api/explanation.ts";
import type { Filter } from "./filter.ts";
import type { OrderTerm } from "./parse-query.ts";

/** The fields of an index, in order. */
export type IndexFields = readonly string[];

/** Whether a filter has a condition. */
export function hasConditions(filter: Filter | undefined): filter is Filter {
  if (filter === undefined) return false;
  return filter.kind === "all" ? filter.filters.some(hasConditions) : true;
}

/** Returns the conditions that all hold for what a filter selects. */
export function conjunctsOf(filter: Filter): readonly Filter[] {
  return filter.kind === "all" ? filter.filters.flatMap(conjunctsOf) : [filter];
}

/** Returns the fields that a filter compares, each once. */
export function fieldsOf(filter: Filter): IndexFields {
  switch (filter.kind) {
    case "all":
    case "any":
      return [...new Set(filter.filters.flatMap(fieldsOf))];
    case "not":
      return fieldsOf(filter.filter);
    default:
      return [filter.path.text];
  }
}

/** Returns the fields that must equal a value in every document that a filter selects. */
export function equalFields(filter: Filter | undefined): IndexFields {
  if (filter === undefined) return [];
  if (filter.kind === "equals" && filter.values.length === 1) return [filter.path.text];
  return filter.kind === "all" ? [...new Set(filter.filters.flatMap(equalFields))] : [];
}

/**
 * Returns the indexes to declare for a filter, one for each alternative; undefined where none can
 * serve. Fields that must equal a value come together in one index.
 */
export function indexesFor(filter: Filter): readonly IndexFields[] | undefined {
  switch (filter.kind) {
    case "equals":
    case "prefix":
    case "range":
      return [[filter.path.text]];
    case "contains":
      return filter.path.meta === undefined ? [[filter.path.text]] : undefined;
    case "all": {
      const equal = equalFields(filter);
      if (equal.length > 0) return [equal];
      return filter.filters.map(indexesFor).find((indexes) => indexes !== undefined);
    }
    case "any": {
      const alternatives = filter.filters.map((each) =>
        each.kind === "contains" ? undefined : indexesFor(each),
      );
      return alternatives.every((indexes) => indexes !== undefined)
        ? alternatives.flat()
        : undefined;
    }
    default:
      return undefined;
  }
}

/** Lists the indexes of a collection that find documents by values. */
export function valueIndexes({
  unique,
  indexes,
}: CollectionDefinition<unknown>): readonly ServingIndex[] {
  return [
    ...[...unique, ["id"]].map((fields): ServingIndex => ({ kind: "unique", fields })),
    ...[...indexes, ["createdAt"]].map((fields): ServingIndex => ({ kind: "index", fields })),
  ];
}

/** Returns the index of a list member that a filter asks for; undefined without one. */
export function memberIndex(
  filter: Filter | undefined,
  indexes: readonly ServingIndex[],
): ServingIndex | undefined {
  if (filter?.kind === "all") {
    return filter.filters
      .filter(({ kind }) => kind === "contains")
      .map((each) => memberIndex(each, indexes))
      .find((found) => found !== undefined);
  }
  if (filter?.kind !== "contains") return undefined;
  const { text } = filter.path;
  return indexes.find(
    ({ kind, fields }) => kind === "index" && fields.length === 1 && fields[0] === text,
  );
}

/** Returns the indexes that find the documents of a filter; undefined where none can. */
export function findingIndexes(
  filter: Filter,
  indexes: readonly ServingIndex[],
): readonly ServingIndex[] | undefined {
  switch (filter.kind) {
    case "equals":
    case "prefix":
    case "range": {
      const found = indexes.find(({ fields }) => fields[0] === filter.path.text);
      return found === undefined ? undefined : [found];
    }
    case "all":
      return filter.filters
        .map((each) => findingIndexes(each, indexes))
        .find((found) => found !== undefined);
    case "any": {
      const found = filter.filters.map((each) => findingIndexes(each, indexes));
      return found.every((each) => each !== undefined) ? found.flat() : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns the index that finds the documents of a filter and returns them in an order. */
export function orderedIndex(
  filter: Filter | undefined,
  order: readonly OrderTerm[],
  indexes: readonly ServingIndex[],
): ServingIndex | undefined {
  if (!hasOneDirection(order)) return undefined;
  const equal = equalFields(filter);
  const compared = filter === undefined ? [] : fieldsOf(filter);
  const wanted = orderFields(order).filter((field) => !equal.includes(field));
  return indexes.find(({ fields }) => {
    const [first = ""] = fields;
    if (filter !== undefined && !compared.includes(first)) return false;
    // Documents that are equal in the fields before are in the order of the fields after them.
    const rest = fields.slice(fields.findIndex((field) => !equal.includes(field)));
    const keys = fields.every((field) => equal.includes(field)) ? [] : rest;
    return wanted.every((field, place) => keys[place] === field);
  });
}

/** Returns the fields of an order without its final id, which every index has too. */
export function orderFields(order: readonly OrderTerm[]): IndexFields {
  const fields = order.map(({ path }) => path.text);
  return fields.length > 1 && fields.at(-1) === "id" ? fields.slice(0, -1) : fields;
}

/** Whether an index can return the order, from one of its ends. */
export function hasOneDirection(order: readonly OrderTerm[]): boolean {
  return order.every(({ descending }) => descending === order[0]?.descending);
}
