import type { Cell, Connection } from "./connection.ts";
import type { Row } from "../../operation.ts";

/** Rows that are read by one statement. */
export const chunkSize = 500;

/**
 * Reads all rows in chunks. The first value of `text` is the number of the row to start after, a
 * column of each row; it must have a limit of {@link chunkSize}.
 *
 * @yields Each row.
 */
export function* rowsOf(
  connection: Connection,
  text: string,
  key: number,
  values: readonly Cell[] = [],
): Generator<Row, void, void> {
  for (let last: Cell = -1; ;) {
    const rows = connection.all(text, [last, ...values]);
    yield* rows;
    if (rows.length < chunkSize) return;
    last = rows.at(-1)?.[key] ?? null;
  }
}
