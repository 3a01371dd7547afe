import type { StoreStatus } from "../../api/migration.ts";
import type { Begin } from "../dialect.ts";
import type { Operation } from "../operation.ts";
import { readMigrations } from "../operations/migrations.ts";
import { registryTable } from "../own-tables.ts";

/** Reads what the store holds. */
export function* readStatus(begin: Begin): Operation<StoreStatus> {
  const { rows } = yield begin().read(`SELECT name, documents FROM ${registryTable} ORDER BY name`);
  const migrations = yield* readMigrations(begin());
  const [version] = (yield begin().read("SELECT sqlite_version()")).rows;
  const [pages] = (yield begin().read("PRAGMA page_count")).rows;
  const [pageSize] = (yield begin().read("PRAGMA page_size")).rows;
  return {
    engine: `SQLite ${String(version?.[0])}`,
    collections: rows.map(([name, documents]) => {
      return { name: String(name), documents: Number(documents) };
    }),
    migrations,
    bytes: Number(pages?.[0]) * Number(pageSize?.[0]),
  };
}
