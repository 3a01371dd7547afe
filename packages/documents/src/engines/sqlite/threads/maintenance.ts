import { quoteName } from "../../dialect.ts";
import type { Connection } from "../connection/connection.ts";
import { quoteText } from "../statements/dialect.ts";

/** A task that reads the whole file, and is done away from the thread that serves. */
export type MaintenanceTask =
  { readonly kind: "backup"; readonly to: string } | { readonly kind: "check" };

const MAX_PROBLEMS = 100;

/** Does a task; gives what is wrong with the file. */
export function maintain(connection: Connection, task: MaintenanceTask): readonly string[] {
  if (task.kind === "check") return check(connection);
  connection.run("VACUUM INTO ?", [task.to]);
  return [];
}

function check(connection: Connection): readonly string[] {
  const problems: string[] = [];
  const values = (sql: string): readonly unknown[] => connection.all(sql, []).flat();
  for (const line of values(`PRAGMA integrity_check(${MAX_PROBLEMS})`)) {
    if (line !== "ok") problems.push(String(line));
  }
  if (problems.length > 0) return problems;
  for (const name of values('SELECT name FROM "fetchwork:collections" ORDER BY name')) {
    problems.push(...checkCollection(String(name), values));
  }
  return problems.slice(0, MAX_PROBLEMS);
}

function checkCollection(
  name: string,
  values: (sql: string) => readonly unknown[],
): readonly string[] {
  const table = quoteName(name);
  const problems: string[] = [];
  const damaged = values(
    `SELECT id FROM ${table} WHERE NOT json_valid(doc) OR json_type(doc) <> 'object' ` +
      `LIMIT ${MAX_PROBLEMS}`,
  );
  for (const id of damaged) {
    problems.push(`The document ${JSON.stringify(id)} of "${name}" is damaged`);
  }
  const hasRemoved = values(
    `SELECT 1 FROM pragma_table_info(${quoteText(name)}) WHERE name = 'deleted_at'`,
  );
  const live = hasRemoved.length === 0 ? "" : " WHERE deleted_at IS NULL";
  const [counted] = values(`SELECT count(*) FROM ${table}${live}`);
  const [kept] = values(
    `SELECT documents FROM "fetchwork:collections" WHERE name = ${quoteText(name)}`,
  );
  if (counted !== kept) {
    problems.push(`"${name}" has ${String(counted)} documents, and counted ${String(kept)}`);
  }
  const search = `${name}:search`;
  if (values(`SELECT 1 FROM sqlite_master WHERE name = ${quoteText(search)}`).length > 0) {
    const [missing] = values(
      `SELECT count(*) FROM ${table} WHERE seq NOT IN (SELECT rowid FROM ${quoteName(search)})`,
    );
    if (missing !== 0) problems.push(`The search of "${name}" lacks ${String(missing)} documents`);
  }
  return problems;
}
