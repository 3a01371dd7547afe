import type {
  AggregateGroup,
  AggregateQuery,
  AggregateValues,
  DistinctQuery,
  MemberValue,
} from "../api/aggregate.ts";
import type { Projected, Stored } from "../api/document.ts";
import { checkQueryOptions } from "../api/check-options.ts";
import { queryError } from "../api/errors.ts";
import { type FieldPath, type FieldValue } from "../api/field-path.ts";
import type { CountQuery, FindQuery, StreamQuery } from "../api/find-query.ts";
import type { Page, PageQuery } from "../api/page.ts";
import { projected } from "../document/projection.ts";
import type { Access } from "../engines/engine.ts";
import type { Layout } from "../engines/layout.ts";
import type { Row } from "../engines/operation.ts";
import type { ReadPlan } from "../engines/operations/find.ts";
import { getDocument, getDocuments } from "../engines/operations/get.ts";
import { maxGroups } from "../engines/operations/summarize.ts";
import { type ParsedAggregate, parseAggregate, parseDistinct } from "../query/parse-aggregate.ts";
import {
  parseCount,
  parseFind,
  parseMaximum,
  parsePage,
  parseQuery,
  selectionNames,
} from "../query/parse-query.ts";
import { checkId, checkList } from "../query/targets.ts";
import type { ObserveQuery } from "./observe-queries.ts";
import { type Reading, selectDocuments, selectPage } from "./select-documents.ts";

/** Documents per part of a stream: few for memory, many for the cost of a statement. */
const partSize = 200;

/** How a collection is read. */
export class CollectionReads<T> {
  readonly name: string;
  protected readonly access: Access;
  protected readonly layout: Layout;
  protected readonly observe: ObserveQuery | undefined;

  readonly #reading: Reading;

  constructor(access: Access, layout: Layout, observe?: ObserveQuery) {
    this.name = layout.definition.name;
    this.access = access;
    this.layout = layout;
    this.observe = observe;
    this.#reading = { access, layout, observe };
  }

  /** Not `async`, which costs a tenth of a read. */
  get(id: string): Promise<Stored<T> | undefined> {
    return this.access.read(this.layout, () => getDocument<T>(this.layout, checkId(id)));
  }

  async getMany(ids: readonly string[]): Promise<readonly (Stored<T> | undefined)[]> {
    const checked = checkList("ids", ids).map(checkId);
    return this.access.read(this.layout, () => getDocuments<T>(this.layout, checked));
  }

  find(query?: FindQuery<T> & { readonly fields?: undefined }): Promise<readonly Stored<T>[]>;
  find<const F extends readonly FieldPath<T>[]>(
    query: FindQuery<T> & { readonly fields: F },
  ): Promise<readonly Projected<T, F>[]>;
  find(query: FindQuery<T>): Promise<readonly Projected<T>[]>;
  async find(query: FindQuery<T> = {}): Promise<readonly (Projected<T> | Stored<T>)[]> {
    const parsed = parseFind(query);
    const { items } = await selectDocuments<T>(this.#reading, { query: parsed });
    return items.map(({ stored }) => projected(stored, parsed.fields));
  }

  page(query?: PageQuery<T> & { readonly fields?: undefined }): Promise<Page<Stored<T>>>;
  page<const F extends readonly FieldPath<T>[]>(
    query: PageQuery<T> & { readonly fields: F },
  ): Promise<Page<Projected<T, F>>>;
  page(query: PageQuery<T>): Promise<Page<Projected<T>>>;
  async page(query: PageQuery<T> = {}): Promise<Page<Projected<T> | Stored<T>>> {
    return selectPage<T>(this.#reading, parsePage(query));
  }

  stream(
    query?: StreamQuery<T> & { readonly fields?: undefined },
  ): AsyncGenerator<Stored<T>, void, undefined>;
  stream<const F extends readonly FieldPath<T>[]>(
    query: StreamQuery<T> & { readonly fields: F },
  ): AsyncGenerator<Projected<T, F>, void, undefined>;
  stream(query: StreamQuery<T>): AsyncGenerator<Projected<T>, void, undefined>;
  async *stream(
    query: StreamQuery<T> = {},
  ): AsyncGenerator<Projected<T> | Stored<T>, void, undefined> {
    checkQueryOptions("stream", query, selectionNames);
    parseQuery(query);
    const limit = query.limit === undefined ? Infinity : parseMaximum("limit", query.limit);
    let { after } = query;
    for (let left = limit; left > 0; left -= partSize) {
      const page = await this.page({ ...query, after, limit: Math.min(partSize, left) });
      yield* page.items;
      if (page.next === undefined) return;
      after = page.next;
    }
  }

  async count(query: CountQuery<T> = {}): Promise<number> {
    const count = parseCount(query);
    this.observe?.(this.layout, { count });
    return (await this.access.find(this.layout, { count }, String)).count;
  }

  async aggregate<
    const V extends AggregateValues<FieldPath<T>>,
    const B extends FieldPath<T> = never,
  >(query: AggregateQuery<T, B, V>): Promise<readonly AggregateGroup<T, B, V>[]> {
    const groups = parseAggregate(query);
    const rows = await this.#summarize({ groups });
    return rows.map((row) => groupOf<T, B, V>(groups, row));
  }

  async distinct<const P extends FieldPath<T>>(
    field: P,
    query: DistinctQuery<T> = {},
  ): Promise<readonly MemberValue<FieldValue<Stored<T>, P>>[]> {
    const distinct = parseDistinct(field, query);
    const rows = await this.#summarize({ distinct });
    return rows.map(([text]) => memberValue<T, P>(text));
  }

  async #summarize(plan: ReadPlan): Promise<readonly Row[]> {
    this.observe?.(this.layout, plan);
    const { items, count } = await this.access.find(this.layout, plan, unchanged);
    refuseTooMany(count);
    return items;
  }
}

function unchanged(row: Row): Row {
  return row;
}

/** Makes a group from its row; the caller states the type of the values, as for documents. */
function groupOf<T, B extends string, V>(
  { by, values }: ParsedAggregate,
  row: Row,
): AggregateGroup<T, B, V> {
  const keys = by.map(({ text }, index) => [text, parseCell(row[index])]);
  const computed = values.map(({ name }, index) => [name, row[by.length + index]]);
  return Object.fromEntries([...keys, ...computed]) as AggregateGroup<T, B, V>;
}

/** Reads a value of a field. */
function memberValue<T, P extends string>(
  cell: Row[number] | undefined,
): MemberValue<FieldValue<Stored<T>, P>> {
  return parseCell(cell) as MemberValue<FieldValue<Stored<T>, P>>;
}

/** @throws {InputError} `ERR_DOCUMENTS_QUERY` when not all groups or values were computed */
function refuseTooMany(count: number): void {
  if (count <= maxGroups) return;
  throw queryError(
    `more than ${maxGroups} groups or different values, expected a filter that selects fewer`,
    "by",
  );
}

function parseCell(cell: Row[number] | undefined): unknown {
  return JSON.parse(String(cell));
}
