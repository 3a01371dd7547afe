import type { Row } from "./connection.ts";
import { type QueryTask, runQuery } from "./query-task.ts";
import type { Reader, Session } from "./session.ts";
import type { Table } from "./table.ts";

/** What came of a query. */
export interface Answer<R> {
  /** What was made of each row. */
  readonly items: readonly R[];
  readonly count: number;
}

/** The way to the tables: through the store, or through a transaction. */
export interface Access {
  read<R>(table: Table, work: (reader: Reader) => R): Promise<R>;
  /** Answers a query, in another thread when it takes long; `map` makes an item of each row. */
  query<R>(table: Table, task: QueryTask, map: (row: Row) => R): Promise<Answer<R>>;
  write<R>(table: Table, work: (session: Session) => R): Promise<R>;
}

/** Goes to the tables through a transaction, which no other thread can see into. */
export function accessThrough(session: Session): Access {
  return {
    read: (table, work) => attempt(() => session.run(table, work)),
    query: (table, task, map) =>
      attempt(() => session.run(table, () => answer(session, table, { task, map }))),
    write: (table, work) => attempt(() => session.run(table, work)),
  };
}

/** Answers a query at once. */
export function answer<R>(
  reader: Reader,
  table: Table,
  { task, map }: { readonly task: QueryTask; readonly map: (row: Row) => R },
): Answer<R> {
  const { rows, count } = runQuery(reader, table, task);
  return { items: rows.map(map), count };
}

/** Does the work at once; what it throws becomes a rejection. */
export function attempt<R>(work: () => R): Promise<R> {
  return new Promise((resolve) => {
    resolve(work());
  });
}
