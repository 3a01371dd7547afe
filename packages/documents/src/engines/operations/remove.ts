import { isPossibleId } from "../../document/id.ts";
import type { Target } from "../../query/targets.ts";
import type { Condition, Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { checkTarget, readTarget, versionTerms } from "./change.ts";
import { type Removal, removalTerms } from "./removal.ts";
import { visibleTerms } from "./where.ts";

/** Removes a document; returns whether there was one. */
export function* removeDocument(layout: Layout, target: Target): Operation<boolean> {
  const { id, ifVersion, lease } = target;
  if (!isPossibleId(id)) return false;
  for (;;) {
    const sql = layout.begin();
    const terms = [`id = ${sql.bind(id, "text")}`, ...visibleTerms(layout, "exclude", sql)];
    terms.push(...versionTerms(ifVersion, sql));
    if (lease !== undefined) terms.push(layout.isHeld(lease, sql));
    if ((yield* removeWhere(layout, { sql, terms, use: "fixed" })) > 0) return true;
    if (ifVersion === undefined && lease === undefined) return false;
    const row = yield* readTarget(layout, target);
    if (row === undefined) return false;
    checkTarget(layout, target, row);
    // It changed in between.
  }
}

/** Removes the documents that a removal selects; returns their number. */
export function* removeSelected(layout: Layout, removal: Removal): Operation<number> {
  const sql = layout.begin();
  const terms = removalTerms(layout, removal, sql);
  return yield* removeAs(removal.kind, layout, { sql, terms });
}

/** Removes or purges the documents that a condition selects; returns their number. */
export function* removeAs(
  kind: Removal["kind"],
  layout: Layout,
  condition: Condition,
): Operation<number> {
  if (kind === "remove") return yield* removeWhere(layout, condition);
  return yield* layout.remove(condition, { kind, at: layout.stamps.now() });
}

function* removeWhere(layout: Layout, condition: Condition): Operation<number> {
  const recording = { kind: "remove", at: layout.stamps.now() } as const;
  const count = layout.softDelete
    ? yield* layout.markRemoved(condition, recording)
    : yield* layout.remove(condition, recording);
  if (count > 0) yield { kind: "added", collection: layout.definition.name, count: -count };
  return count;
}

/** Deletes a removed document; returns whether there was one. */
export function* purgeDocument(layout: Layout, id: string): Operation<boolean> {
  if (!isPossibleId(id)) return false;
  const sql = layout.begin();
  const terms = [`id = ${sql.bind(id, "text")}`, ...visibleTerms(layout, "only", sql)];
  return (yield* removeAs("purge", layout, { sql, terms })) > 0;
}
