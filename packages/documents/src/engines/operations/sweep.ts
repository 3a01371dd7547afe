import type { Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";

/** Maximum number of documents that one sweep removes, which bounds its time. */
export const sweepBatch = 1000;

/** Deletes expired documents, at most {@link sweepBatch}; returns their number. */
export function* removeExpired(layout: Layout): Operation<number> {
  if (layout.expiresAt === undefined) return 0;
  const recording = { kind: "remove", at: layout.stamps.now() } as const;
  const collection = layout.definition.name;
  const live = yield* layout.removeExpired(sweepBatch, "exclude", recording);
  if (live > 0) yield { kind: "added", collection, count: -live };
  if (!layout.softDelete || live === sweepBatch) return live;
  // Removed documents were subtracted when they were removed.
  const purging = { ...recording, kind: "purge" } as const;
  return live + (yield* layout.removeExpired(sweepBatch - live, "only", purging));
}
