import type { Cell } from "./connection.ts";
import { LEASES } from "./layout.ts";
import { displace } from "./placing.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";

/** Deletes rows for good, out of the search index and the tables of places and leases too. */
export function deleteMatching(
  { connection }: Session,
  table: Table,
  { where, parameters }: { readonly where: string; readonly parameters: readonly Cell[] },
): number {
  if (table.searchPaths.length > 0) {
    connection.run(
      `DELETE FROM ${table.quotedSearch} WHERE rowid IN (SELECT seq FROM ${table.quoted}${where})`,
      parameters,
    );
  }
  if (table.geoPaths.length > 0) {
    connection.run(
      `DELETE FROM ${table.quotedGeo} WHERE document IN (SELECT seq FROM ${table.quoted}${where})`,
      parameters,
    );
  }
  // There are few leases, and each looks for its document: the rows are not looked through for them.
  connection.run(
    `DELETE FROM ${LEASES} AS held WHERE collection = ? AND ` +
      `EXISTS (SELECT 1 FROM (SELECT id FROM ${table.quoted}${where}) AS gone WHERE gone.id = held.id)`,
    [table.definition.name, ...parameters],
  );
  return connection.run(`DELETE FROM ${table.quoted}${where}`, parameters);
}

/** Deletes a row for good, out of the search index and the tables of places and leases too. */
export function deleteRow({ connection }: Session, table: Table, seq: number): void {
  if (table.searchPaths.length > 0) {
    connection.run(`DELETE FROM ${table.quotedSearch} WHERE rowid = ?`, [seq]);
  }
  displace(connection, table, seq);
  connection.run(
    `DELETE FROM ${LEASES} WHERE collection = ? ` +
      `AND id = (SELECT id FROM ${table.quoted} WHERE seq = ?)`,
    [table.definition.name, seq],
  );
  connection.run(`DELETE FROM ${table.quoted} WHERE seq = ?`, [seq]);
}
