import type { Dialect } from "../dialect.ts";
import type { Layout, Recording } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { whereSql } from "./where.ts";

/** Maximum number of documents that one sweep removes, which bounds its time. */
export const sweepBatch = 1000;

/** Deletes expired documents, at most {@link sweepBatch}; returns their number. */
export function* removeExpired(layout: Layout): Operation<number> {
  if (layout.expiresAt === undefined) return 0;
  const recording = { kind: "remove", at: layout.stamps.now() } as const;
  const collection = layout.definition.name;
  const live = yield* removeDue(layout, sweepBatch, { deleted: "exclude", recording });
  if (live > 0) yield { kind: "added", collection, count: -live };
  if (!layout.softDelete || live === sweepBatch) return live;
  // Removed documents were subtracted when they were removed.
  const purging = { ...recording, kind: "purge" } as const;
  return (
    live + (yield* removeDue(layout, sweepBatch - live, { deleted: "only", recording: purging }))
  );
}

/** Deletes rows that have expired, unless they are changed in between; returns their number. */
function* removeDue(
  layout: Layout,
  limit: number,
  { deleted, recording }: { readonly deleted: "exclude" | "only"; readonly recording: Recording },
): Operation<number> {
  const reading = layout.begin();
  const where = whereSql(dueTerms(layout, deleted, reading));
  const { rows } = yield reading.read(
    `SELECT ${layout.key} FROM ${layout.quoted}${where} ORDER BY expires_at${reading.page(limit, 0)}`,
  );
  if (rows.length === 0) return 0;
  const sql = layout.begin();
  const keys = rows.map(([key = null]) => key);
  const terms = [sql.isRow(keys), ...dueTerms(layout, deleted, sql)];
  return yield* layout.remove({ sql, terms }, recording);
}

function dueTerms(layout: Layout, deleted: "exclude" | "only", sql: Dialect): readonly string[] {
  const due = `expires_at <= ${sql.bind(Date.now(), "bigint")}`;
  if (deleted === "only") return [due, "deleted_at IS NOT NULL"];
  return layout.hasRemoved ? [due, "deleted_at IS NULL"] : [due];
}
