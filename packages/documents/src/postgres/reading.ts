import { isPossibleId } from "../change-input.ts";
import { sortValue } from "../cursor.ts";
import type { Stored } from "../document.ts";
import { InputError } from "../errors.ts";
import { valueAt } from "../field-path.ts";
import { type Segment, segmentsAfter, type SortValue } from "../keyset.ts";
import type { OrderTerm, ParsedQuery, ParsedSelection } from "../query.ts";
import type { Deleted } from "../soft-deletion.ts";
import { filterSql } from "./filter-sql.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { keyOf, keyOfValue, orderSql, Parameters, textOf } from "./sql.ts";
import { statementName, type Table } from "./table.ts";

/** Reads a document. */
export async function readOne<T>(
  session: Session,
  table: Table,
  id: string,
): Promise<Stored<T> | undefined> {
  // PostgreSQL refuses to look for a text with U+0000.
  if (!isPossibleId(id)) return undefined;
  const parameters = new Parameters();
  const terms = [`id = ${parameters.bind(id, "text")}`];
  terms.push(...visibleTerms(table, "exclude", parameters));
  const { rows } = await session.read({
    name: `${table.hash}:get`,
    text: `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted} WHERE ${terms.join(" AND ")}`,
    values: parameters.values,
  });
  const [row] = rows;
  return row === undefined ? undefined : toStored<T>(table, row);
}

/** Reads documents in the order of the ids. */
export async function readMany<T>(
  session: Session,
  table: Table,
  ids: readonly string[],
): Promise<readonly (Stored<T> | undefined)[]> {
  const parameters = new Parameters();
  const terms = [`id = ANY(${parameters.bind(ids.filter(isPossibleId), "text[]")})`];
  terms.push(...visibleTerms(table, "exclude", parameters));
  const { rows } = await session.read({
    name: `${table.hash}:getMany`,
    text: `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted} WHERE ${terms.join(" AND ")}`,
    values: parameters.values,
  });
  const rowsById = new Map(rows.map((row) => [row[0], row]));
  return ids.map((id) => {
    const row = rowsById.get(id);
    return row === undefined ? undefined : toStored<T>(table, row);
  });
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
  for (const segment of segmentsAfter(query.order, after)) {
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
  query: ParsedQuery & { readonly segment?: Segment },
): Promise<readonly Stored<T>[]> {
  const parameters = new Parameters();
  const where = whereSql(table, query, parameters);
  const order = query.segment?.order ?? query.order;
  const sorting = order.length === 0 ? "" : ` ORDER BY ${orderSql(order)}`;
  const limit = query.limit === undefined ? "" : ` LIMIT ${query.limit}`;
  const offset = query.offset === 0 ? "" : ` OFFSET ${query.offset}`;
  const text = `SELECT ${DOCUMENT_COLUMNS} FROM ${table.quoted}${where}${sorting}${limit}${offset}`;
  const name = statementName(table, text);
  const { rows } = await session.read({ name, text, values: parameters.values });
  return rows.map((row) => toStored<T>(table, row));
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
  { filter, words, deleted, segment }: ParsedSelection & { readonly segment?: Segment },
  parameters: Parameters,
): string {
  const terms = [...visibleTerms(table, deleted, parameters)];
  if (segment !== undefined) terms.push(segmentSql(segment, parameters));
  if (filter !== undefined) terms.push(filterSql(filter, { parameters, indexed: table.indexed }));
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

function segmentSql({ equal, beyond }: Segment, parameters: Parameters): string {
  const terms = equal.map(({ term, value }) =>
    value === null
      ? `${keyOf(term.path)} IS NULL`
      : `${keyOf(term.path)} = ${keyOfValue(term.path, value, parameters)}`,
  );
  const key = keyOf(beyond.term.path);
  if (beyond.value === undefined) {
    terms.push(`${key} IS ${beyond.kind === "null" ? "NULL" : "NOT NULL"}`);
  } else {
    const operator = beyond.kind === "greater" ? ">" : "<";
    terms.push(`${key} ${operator} ${keyOfValue(beyond.term.path, beyond.value, parameters)}`);
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
