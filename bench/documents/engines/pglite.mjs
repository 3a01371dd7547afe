// @electric-sql/pglite in a folder; it runs with fsync=off, so an insert does not wait for the
// disk.
import { PGlite } from "@electric-sql/pglite";
import { pg_trgm } from "@electric-sql/pglite/contrib/pg_trgm";
import { openTable } from "./postgres-table.mjs";

export async function open({ folder, search, tags }) {
  const db = await PGlite.create({ dataDir: `${folder}/data`, extensions: { pg_trgm } });
  return openTable({
    script: (text) => db.exec(text),
    query: (_name, text, values) => db.query(text, values),
    search,
    tags,
    close: () => db.close(),
  });
}
