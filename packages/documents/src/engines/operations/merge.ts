import type { Stored } from "../../api/document.ts";
import { mergeFields } from "../../document/change.ts";
import { isPossibleId } from "../../document/id.ts";
import { toStored } from "../../document/stored.ts";
import type { Target } from "../../query/targets.ts";
import type { Layout } from "../layout.ts";
import type { Operation, Result } from "../operation.ts";
import { changeDocument } from "./change.ts";

/** Below this size, of the document and of the change, a merged document is not too large. */
const maxMergedBytes = 8 * 1024 * 1024;

/** Fields to set and to remove. */
export interface Merge {
  /** JSON text of the fields to set. */
  readonly text: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly removed: readonly string[];
}

/**
 * Merges a change into a document: by one statement in engines that can, unless something that is
 * derived of the document depends on the change.
 */
export function mergeDocument<T>(
  layout: Layout,
  target: Target,
  merge: Merge,
): Operation<Stored<T> | undefined> {
  const names = Object.keys(merge.fields);
  const isBlind =
    isPossibleId(target.id) &&
    merge.text.length <= maxMergedBytes / 3 &&
    ![...names, ...merge.removed].some((name) => layout.reserved.has(name));
  const merged = isBlind
    ? layout.merge?.({
        ...target,
        text: merge.text,
        names,
        removed: merge.removed,
        at: layout.stamps.now(),
        maxBytes: maxMergedBytes,
      })
    : undefined;
  return merged === undefined
    ? changeByMerging<T>(layout, target, merge)
    : awaitMerged<T>(layout, target, { merge, merged });
}

/** Changes no row when the document is missing, is another one, or is too large. */
function* awaitMerged<T>(
  layout: Layout,
  target: Target,
  { merge, merged }: { readonly merge: Merge; readonly merged: Operation<Result> },
): Operation<Stored<T> | undefined> {
  const [row] = (yield* merged).rows;
  if (row !== undefined) return toStored<T>(layout.definition.name, row);
  return yield* changeByMerging<T>(layout, target, merge);
}

function changeByMerging<T>(
  layout: Layout,
  target: Target,
  merge: Merge,
): Operation<Stored<T> | undefined> {
  return changeDocument<T>(layout, target, { make: (stored) => mergeFields(stored, merge) });
}
