// Bare pg with its pool of 10 and named statements.
import pg from "pg";
import { openTable } from "./postgres-table.mjs";

export async function open({ url, search, tags }) {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  return openTable({
    script: (text) => pool.query(text),
    query: (name, text, values) => pool.query({ name, text, values }),
    search,
    tags,
    close: () => pool.end(),
  });
}
