import type { Stored } from "../../api/document.ts";
import { InputError } from "../../api/errors.ts";
import { type ParsedPath, valueAt } from "../../api/field-path.ts";
import type { Deleted } from "../../api/soft-deletion.ts";
import { sortValue } from "../../query/cursor.ts";
import { type Segment, segmentsAfter, type SortValue } from "../../query/keyset.ts";
import type { OrderTerm, ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import { isPossibleId } from "../../query/targets.ts";
import { filterSql } from "./filter-sql.ts";
import type { Row } from "./row-query.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import {
  DraftParameters,
  expandKeys,
  type KeyForm,
  keyOfValue,
  orderSql,
  Parameters,
  textOf,
} from "./sql.ts";
import { statementOf, type Table } from "./table.ts";

/** Reads a document. */
export async function readOne<T>(
  session: Session,
  table: Table,
  id: string,
): Promise<Stored<T> | undefined> {
  const [row] = await readRows(session, table, [id]);
  return row === undefined ? undefined : toStored<T>(table, row);
}

/** Reads documents in the order of the ids. */
export async function readMany<T>(
  session: Session,
  table: Table,
  ids: readonly string[],
): Promise<readonly (Stored<T> | undefined)[]> {
  const rows = await readRows(session, table, ids);
  return rows.map((row) => (row === undefined ? undefined : toStored<T>(table, row)));
}

/** Reads the rows of documents in the order of the ids. */
export async function readRows(
  session: Session,
  table: Table,
  ids: readonly string[],
): Promise<readonly (Row | undefined)[]> {
  // PostgreSQL refuses to look for a text with U+0000.
  const possible = ids.filter(isPossibleId);
  const [first] = possible;
  if (first === undefined) return ids.map(() => undefined);
  const parameters = new Parameters();
  const isOne = possible.length === 1;
  const equal = isOne
    ? `= ${parameters.bind(first, "text")}`
    : `= ANY(${parameters.bind(possible, "text[]")})`;
  // Whether a document was removed is seen here: with that condition, a server that has no statistics
  // yet would rather use an index of all documents that were not.
  const { rows } = await session.read({
    name: `${table.hash}:${isOne ? "get" : "getMany"}`,
    text: `SELECT ${DOCUMENT_COLUMNS}, expires_at FROM ${table.quoted} WHERE id ${equal}`,
    values: parameters.values,
  });
  const now = Date.now();
  const visible = rows.filter((row) => row[5] === null && !isExpired(table, row, now));
  if (ids.length === 1) return [visible[0]];
  const rowsById = new Map(visible.map((row) => [row[0], row]));
  return ids.map((id) => rowsById.get(id));
}

function isExpired({ expiresAt }: Table, row: Row, now: number): boolean {
  const time = row[6] ?? null;
  return expiresAt !== undefined && time !== null && Number(time) <= now;
}

/** Selects, sorts and pages documents; `after` are the values of the cursor, if there is one. */
export async function find<T>(
  session: Session,
  table: Table,
  {
    query,
    after,
  }: { readonly query: ParsedQuery; readonly after?: readonly SortValue[] | undefined },
): Promise<readonly Stored<T>[]> {
  if (after === undefined) return select<T>(session, table, query);
  // One statement for each segment, and not one with OR, which no index serves.
  const found: Stored<T>[] = [];
  for (const segment of rowsAfter(query.order, after) ?? segmentsAfter(query.order, after)) {
    const limit = query.limit === undefined ? undefined : query.limit - found.length;
    if (limit === 0) break;
    for (const stored of await select<T>(session, table, { ...query, limit, segment })) {
      found.push(stored);
    }
  }
  return found;
}

async function select<T>(
  session: Session,
  table: Table,
  query: ParsedQuery & { readonly segment?: Segment | RowsAfter },
): Promise<readonly Stored<T>[]> {
  const parameters = new DraftParameters();
  const where = whereSql(table, query, parameters);
  const order = query.segment?.order ?? query.order;
  const key = (path: ParsedPath): string => parameters.key(path, table.keyForm);
  const sorting = order.length === 0 ? "" : ` ORDER BY ${orderSql(order, key)}`;
  const limit = query.limit === undefined ? "" : ` LIMIT ${query.limit}`;
  const offset = query.offset === 0 ? "" : ` OFFSET ${query.offset}`;
  const draft = `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted}${where}${sorting}${limit}`;
  // Every offset is another statement, which would take the place of one that comes again; and the
  // plan of a search depends on its words.
  const { name, text } =
    offset === "" && query.words.length === 0
      ? statementOf(table, draft)
      : { name: undefined, text: expandKeys(`${draft}${offset}`, table.keyForm) };
  const { rows } = await session.read({ name, text, values: parameters.values });
  return rows.map((row) => toStored<T>(table, row));
}

/** The documents behind a place, by one comparison of rows. */
interface RowsAfter {
  readonly order: readonly OrderTerm[];
  readonly values: readonly (number | string)[];
}

/**
 * Takes the documents behind a place apart where a comparison of rows selects most of them, which
 * an index serves: one direction, and no null where a comparison would come upon it.
 */
function rowsAfter(
  order: readonly OrderTerm[],
  after: readonly SortValue[],
): readonly (RowsAfter | Segment)[] | undefined {
  const [first] = order;
  const values = after.filter((value) => value !== null);
  if (first === undefined || order.length < 2 || values.length < order.length) return undefined;
  const { descending } = first;
  if (order.some((term) => term.descending !== descending)) return undefined;
  if (!descending) return [{ order, values }];
  // Null is behind everything, so those of a later field are in between.
  const rest = order.slice(1);
  if (rest.some(({ path }) => path.meta === undefined)) return undefined;
  if (first.path.meta !== undefined) return [{ order, values }];
  const missing: Segment = { equal: [], beyond: { kind: "null", term: first }, order: rest };
  return [{ order, values }, missing];
}

/**
 * Gives the values that a document is sorted by. An object or a list is sorted by the text that
 * PostgreSQL makes of it, which is not the one that JavaScript would write.
 */
export async function sortValues<T>(
  session: Session,
  table: Table,
  { document, order }: { readonly document: Stored<T>; readonly order: readonly OrderTerm[] },
): Promise<readonly SortValue[]> {
  const values = order.map(({ path }) => valueAt(document, path.segments));
  const nested = order.filter((_term, index) => isNested(values[index])).map(({ path }) => path);
  if (nested.length === 0) return values.map(sortValue);
  const { rows } = await session.read({
    text: `SELECT ${nested.map(textOf).join(", ")} FROM ${table.quoted} WHERE id = $1`,
    values: [document.id],
  });
  const texts = [...(rows[0] ?? [])];
  return values.map((value) => sortValue(isNested(value) ? texts.shift() : value));
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** Writes the WHERE clause of a selection, with a space before it. */
export function whereSql(
  table: Table,
  { filter, words, deleted, segment }: ParsedSelection & { readonly segment?: Segment | RowsAfter },
  parameters: Parameters,
): string {
  const terms = [...visibleTerms(table, deleted, parameters)];
  const form = table.keyForm;
  if (segment !== undefined) {
    terms.push(
      "beyond" in segment
        ? segmentSql(segment, { parameters, form })
        : rowsAfterSql(segment, { parameters, form }),
    );
  }
  if (filter !== undefined)
    terms.push(filterSql(filter, { parameters, indexed: table.indexed, form }));
  if (words.length > 0) terms.push(...searchTerms(table, words, parameters));
  return ` WHERE ${terms.length === 0 ? "TRUE" : terms.join(" AND ")}`;
}

/** Writes what makes a row one that can be seen; the indexes hold only rows that were not removed. */
export function visibleTerms(
  table: Table,
  deleted: Deleted,
  parameters: Parameters,
): readonly string[] {
  const terms: string[] = [];
  if (deleted === "exclude") terms.push("deleted_at IS NULL");
  if (deleted === "only") terms.push(table.softDelete ? "deleted_at IS NOT NULL" : "FALSE");
  if (table.expiresAt !== undefined) {
    const now = parameters.bind(String(Date.now()), "bigint");
    terms.push(`(expires_at IS NULL OR expires_at > ${now})`);
  }
  return terms;
}

/** What keys are written with. */
interface KeyContext {
  readonly parameters: Parameters;
  readonly form: KeyForm;
}

function rowsAfterSql({ order, values }: RowsAfter, { parameters, form }: KeyContext): string {
  const keys = order.map(({ path }) => parameters.key(path, form));
  const places = order.map(({ path }, index) =>
    keyOfValue(path, values[index] ?? "", { parameters, form }),
  );
  const operator = order[0]?.descending === true ? "<" : ">";
  return `(${keys.join(", ")}) ${operator} (${places.join(", ")})`;
}

function segmentSql({ equal, beyond }: Segment, { parameters, form }: KeyContext): string {
  const terms = equal.map(({ term, value }) => {
    const key = parameters.key(term.path, form);
    return value === null
      ? `${key} IS NULL`
      : `${key} = ${keyOfValue(term.path, value, { parameters, form })}`;
  });
  const key = parameters.key(beyond.term.path, form);
  if (beyond.value === undefined) {
    terms.push(`${key} IS ${beyond.kind === "null" ? "NULL" : "NOT NULL"}`);
  } else {
    const operator = beyond.kind === "greater" ? ">" : "<";
    terms.push(
      `${key} ${operator} ${keyOfValue(beyond.term.path, beyond.value, { parameters, form })}`,
    );
  }
  return terms.join(" AND ");
}

/** Every word must occur in the folded text; the trigram index finds words of three characters. */
function searchTerms(
  table: Table,
  words: readonly string[],
  parameters: Parameters,
): readonly string[] {
  if (table.definition.search.length === 0) {
    throw new InputError(
      "ERR_DOCUMENTS_QUERY",
      `The collection "${table.definition.name}" declares no search fields, so "q" finds nothing`,
    );
  }
  return words.map((word) => {
    const literal = word.replaceAll(/[\\%_]/g, "\\$&");
    return `search LIKE ${parameters.bind(`%${literal}%`, "text")}`;
  });
}
