import type { SortValue } from "../../query/keyset.ts";
import type { ParsedQuery, ParsedSelection } from "../../query/parse-query.ts";
import type { Row } from "./connection.ts";
import { count } from "./counting.ts";
import { selectNear } from "./reading-near.ts";
import { selectRows } from "./reading.ts";
import type { Reader } from "./session.ts";
import type { Table } from "./table.ts";

/** A query as plain data, which another thread can answer as well. */
export interface QueryTask {
  /** What to select, and the values of the cursor, if there is one. */
  readonly find?:
    { readonly query: ParsedQuery; readonly after: readonly SortValue[] | undefined } | undefined;
  /** What to count, up to `max`. */
  readonly count?: (ParsedSelection & { readonly max?: number | undefined }) | undefined;
}

/** What came of a query: rows that `toStored` takes, and a number. */
export interface QueryResult {
  readonly rows: readonly Row[];
  readonly count: number;
}

/** Answers a query. */
export function runQuery(reader: Reader, table: Table, task: QueryTask): QueryResult {
  return {
    rows: task.find === undefined ? [] : rowsOf(reader, table, task.find),
    count: task.count === undefined ? 0 : count(reader, table, task.count),
  };
}

function rowsOf(
  reader: Reader,
  table: Table,
  { query, after }: NonNullable<QueryTask["find"]>,
): readonly Row[] {
  const { near } = query;
  return near === undefined
    ? selectRows(reader, table, { query, after })
    : selectNear(reader, table, { query, near, after });
}
