import { isPossibleId } from "../../document/id.ts";
import type { Filter } from "../../query/filter.ts";
import type { ParsedPurge } from "../../query/parse-purge.ts";
import type { Target } from "../../query/targets.ts";
import type { Condition, Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { checkTarget, readTarget } from "./change.ts";
import { selectionTerms, visibleTerms } from "./where.ts";

/** Removes a document; returns whether there was one. */
export function* removeDocument(layout: Layout, target: Target): Operation<boolean> {
  const { id, ifVersion, lease } = target;
  if (!isPossibleId(id)) return false;
  for (;;) {
    const sql = layout.begin();
    const terms = [`id = ${sql.bind(id, "text")}`, ...visibleTerms(layout, "exclude", sql)];
    if (ifVersion !== undefined) terms.push(`version = ${sql.bind(ifVersion, "bigint")}`);
    if (lease !== undefined) terms.push(layout.isHeld(lease, sql));
    if ((yield* removeWhere(layout, { sql, terms, use: "fixed" })) > 0) return true;
    if (ifVersion === undefined && lease === undefined) return false;
    const row = yield* readTarget(layout, target);
    if (row === undefined) return false;
    checkTarget(layout, target, row);
    // It changed in between.
  }
}

/** Removes the documents that a filter matches; returns their number. */
export function* removeMatching(layout: Layout, filter: Filter): Operation<number> {
  const sql = layout.begin();
  const terms = selectionTerms(layout, { filter, words: [], deleted: "exclude" }, sql);
  return yield* removeWhere(layout, { sql, terms });
}

function* removeWhere(layout: Layout, condition: Condition): Operation<number> {
  const recording = { kind: "remove", at: layout.stamps.now() } as const;
  const count = layout.softDelete
    ? yield* layout.markRemoved(condition, recording)
    : yield* layout.remove(condition, recording);
  if (count > 0) yield { kind: "added", collection: layout.definition.name, count: -count };
  return count;
}

/** Deletes removed documents: one of them, or those that a selection matches; returns their number. */
export function* purgeDocuments(
  layout: Layout,
  { id, filter, deletedBefore }: Partial<ParsedPurge> & { readonly id?: string },
): Operation<number> {
  if (id !== undefined && !isPossibleId(id)) return 0;
  const sql = layout.begin();
  const terms = [...selectionTerms(layout, { filter, words: [], deleted: "only" }, sql)];
  if (id !== undefined) terms.push(`id = ${sql.bind(id, "text")}`);
  if (deletedBefore !== undefined) terms.push(`deleted_at < ${sql.bind(deletedBefore, "text")}`);
  return yield* layout.remove({ sql, terms }, { kind: "purge", at: layout.stamps.now() });
}
