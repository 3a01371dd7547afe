import type { AppliedMigration } from "../../api/migration.ts";
import type { StatementWriter } from "../dialect.ts";
import type { Operation } from "../operation.ts";
import { migrationsTable } from "../own-tables.ts";

/** Reads the migrations that ran, in order. */
export function* readMigrations(sql: StatementWriter): Operation<readonly AppliedMigration[]> {
  const { rows } = yield sql.read(`SELECT id, name, at FROM ${migrationsTable} ORDER BY id`);
  return rows.map(([id, name, at]) => ({ id: Number(id), name: String(name), at: String(at) }));
}

/** Records that a migration ran; one that is recorded already stays as it is. */
export function* recordMigration(
  sql: StatementWriter,
  { id, name, at }: AppliedMigration,
): Operation<void> {
  yield sql.write(
    `INSERT INTO ${migrationsTable} (id, name, at) VALUES (${sql.bind(id, "bigint")}, ` +
      `${sql.bind(name, "text")}, ${sql.bind(at, "text")}) ON CONFLICT DO NOTHING`,
  );
}

/** Removes the record that a migration ran. */
export function* forgetMigration(sql: StatementWriter, id: number): Operation<void> {
  yield sql.write(`DELETE FROM ${migrationsTable} WHERE id = ${sql.bind(id, "bigint")}`);
}
