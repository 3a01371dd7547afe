import type { Stored } from "../../api/document.ts";
import { isPossibleId } from "../../document/id.ts";
import { toStored } from "../../document/stored.ts";
import type { Target } from "../../query/targets.ts";
import type { Layout } from "../layout.ts";
import type { Operation } from "../operation.ts";

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
 * Merges a change into a document by one statement, in engines that can; returns "unsure" when the document does not
 * exist, is not the one that is meant, or must be read first.
 */
export function* mergeDocument<T>(
  layout: Layout,
  { id, ifVersion, lease }: Target,
  { text, fields, removed }: Merge,
): Operation<Stored<T> | "unsure"> {
  if (layout.merge === undefined || !isPossibleId(id)) return "unsure";
  const names = Object.keys(fields);
  if (text.length > maxMergedBytes / 3 || isDerivedFrom(layout, [...names, ...removed])) {
    return "unsure";
  }
  const at = layout.stamps.now();
  const maxBytes = maxMergedBytes;
  const row = yield* layout.merge({ id, ifVersion, lease, text, names, removed, at, maxBytes });
  return row === "unsure" ? row : toStored<T>(layout.definition.name, row);
}

/** Whether anything that this program derives of a document depends on the fields. */
function isDerivedFrom(layout: Layout, names: readonly string[]): boolean {
  const { searchPaths, geoPaths, reserved, expiresAt } = layout;
  const touched = new Set(names);
  const isSearched = searchPaths.some(({ segments: [head = ""], meta }) =>
    meta === undefined ? touched.has(head) : meta !== "id" && meta !== "createdAt",
  );
  const isPlace = geoPaths.some(({ segments: [head = ""] }) => touched.has(head));
  const isReserved = names.some((name) => reserved.has(name));
  return isSearched || isPlace || isReserved || expiresAt !== undefined;
}
