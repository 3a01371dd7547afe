import type { ChangeKind } from "../../api/changes.ts";
import type { Cell } from "./connection.ts";
import { CHANGES } from "./layout.ts";
import type { Session } from "./session.ts";
import type { Table } from "./table.ts";

/** What happened to one document. */
export interface Recorded {
  readonly kind: ChangeKind;
  readonly id: string;
  readonly version: number;
  /** The time of the change, the same as in the document. */
  readonly at: string;
  /** The JSON text of the caller's fields; undefined when nothing was left behind. */
  readonly text: string | undefined;
}

/** Writes a change to the feed, in the transaction of the change. */
export function recordChange(session: Session, table: Table, change: Recorded): void {
  const { changes, name } = table.definition;
  if (changes === undefined) return;
  const text = changes === "documents" ? (change.text ?? null) : null;
  session.connection.run(
    `INSERT INTO ${CHANGES} (collection, id, kind, version, at, doc) VALUES (?, ?, ?, ?, ?, ?)`,
    [name, change.id, change.kind, change.version, change.at, text],
  );
  session.hasRecorded = true;
}

/** Writes the same change of many documents, which a WHERE clause selects. */
export function recordMatching(
  session: Session,
  table: Table,
  change: {
    readonly kind: ChangeKind;
    readonly added: number;
    readonly at: string;
    readonly where: string;
    readonly parameters: readonly Cell[];
  },
): void {
  const { changes, name } = table.definition;
  if (changes === undefined) return;
  const text =
    changes === "documents" && table.softDelete && change.kind === "remove" ? "doc" : "NULL";
  session.connection.run(
    `INSERT INTO ${CHANGES} (collection, id, kind, version, at, doc) ` +
      `SELECT ?, id, ?, version + ?, ?, ${text} FROM ${table.quoted}${change.where} ORDER BY seq`,
    [name, change.kind, change.added, change.at, ...change.parameters],
  );
  session.hasRecorded = true;
}
