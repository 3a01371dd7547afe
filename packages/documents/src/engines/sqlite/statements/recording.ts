import type { Condition, Layout, Recording } from "../../layout.ts";
import type { Operation } from "../../operation.ts";
import { whereSql } from "../../operations/where.ts";
import { changesTable } from "../../own-tables.ts";
import { changeChecksum } from "./checksums.ts";

/** A change of one document. */
interface DocumentChange extends Recording {
  readonly id: string;
  readonly version: number;
  /** `null` when the document is gone. */
  readonly text: string | null;
}

/** Writes the change of one document to the feed. */
export function* recordChange(
  { changes, name }: Layout["definition"],
  { id, kind, version, at, text }: DocumentChange,
): Operation<void> {
  if (changes === undefined) return;
  const doc = changes === "documents" ? text : null;
  const checksum = changeChecksum({ collection: name, id, kind, version, at }, doc);
  yield {
    kind: "write",
    text:
      `INSERT INTO ${changesTable} (collection, id, kind, version, at, doc, checksum) ` +
      "VALUES (?, ?, ?, ?, ?, ?, ?)",
    values: [name, id, kind, version, at, doc, checksum],
  };
  yield { kind: "recorded" };
}

/** Writes the removal of selected documents to the feed, before they are gone. */
export function* recordRemoved(
  { definition, quoted }: Layout,
  { sql, terms }: Condition,
  recording: Recording,
): Operation<void> {
  if (definition.changes === undefined) return;
  const { rows } = yield {
    kind: "read",
    text: `SELECT id, version FROM ${quoted}${whereSql(terms)} ORDER BY seq`,
    values: sql.values,
  };
  for (const [id, version] of rows) {
    const removed = { id: String(id), version: Number(version), text: null };
    yield* recordChange(definition, { ...recording, ...removed });
  }
}

/** Reads the keys of the rows that a condition selects, in their order. */
export function* keysWhere(
  { quoted }: Layout,
  { sql, terms }: Condition,
): Operation<readonly number[]> {
  const text = `SELECT seq FROM ${quoted}${whereSql(terms)}`;
  const { rows } = yield { kind: "read", text, values: sql.values };
  return rows.map(([seq]) => Number(seq)).toSorted((one, other) => one - other);
}
