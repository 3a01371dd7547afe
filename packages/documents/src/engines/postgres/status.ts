import type { StoreStatus } from "../../api/migration.ts";
import { type Begin, quoteName } from "../dialect.ts";
import type { Operation } from "../operation.ts";
import { readMigrations } from "../operations/migrations.ts";
import { registryTable } from "../own-tables.ts";

/** Reads what the store holds. */
export function* readStatus(begin: Begin): Operation<StoreStatus> {
  const collections: { readonly name: string; readonly documents: number }[] = [];
  let bytes = 0;
  const sizeOf = yield* sizeFunction(begin);
  const { rows } = yield begin().read(`SELECT name FROM ${registryTable} ORDER BY name`);
  for (const [name] of rows) {
    const quoted = quoteName(String(name));
    const counting = `SELECT count(*) FROM ${quoted} WHERE deleted_at IS NULL`;
    const counted = yield begin().read(counting);
    const sql = begin();
    // Apart from the count, because it cannot be asked of each server of a distributed table.
    const size = yield sql.read(`SELECT ${sizeOf(`to_regclass(${sql.bind(quoted, "text")})`)}`);
    collections.push({ name: String(name), documents: Number(counted.rows[0]?.[0]) });
    bytes += Number(size.rows[0]?.[0]);
  }
  const migrations = yield* readMigrations(begin());
  const version = yield begin().read("SHOW server_version");
  const engine = `PostgreSQL ${String(version.rows[0]?.[0]).split(" ", 1)[0]}`;
  return { engine, collections, migrations, bytes };
}

/** Returns what writes a table's size; the asked server has nothing of Citus tables. */
function* sizeFunction(begin: Begin): Operation<(table: string) => string> {
  const { rows } = yield begin().read("SELECT to_regclass('pg_dist_partition')::text");
  if (rows[0]?.[0] === null) return ownSize;
  return (table) =>
    `CASE WHEN ${table} IN (SELECT logicalrelid FROM pg_dist_partition) ` +
    `THEN citus_total_relation_size(${table}) ELSE ${ownSize(table)} END`;
}

function ownSize(table: string): string {
  return `pg_total_relation_size(${table})`;
}
