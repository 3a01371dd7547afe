import type { Stored } from "../../api/document.ts";
import { DocumentsError } from "../../api/errors.ts";
import { toStored } from "../../document/stored.ts";
import type { NewDocument } from "../../query/targets.ts";
import type { Layout, NewRow } from "../layout.ts";
import type { Operation } from "../operation.ts";
import { removeExpired } from "./sweep.ts";

/** Adds a document. */
export function* insertDocument<T>(layout: Layout, document: NewDocument): Operation<Stored<T>> {
  const [stored] = yield* insertDocuments<T>(layout, [document]);
  if (stored !== undefined) return stored;
  throw new DocumentsError("ERR_DOCUMENTS_ENGINE", "the engine added nothing");
}

/** Adds documents, all or none. */
export function* insertDocuments<T>(
  layout: Layout,
  documents: readonly NewDocument[],
): Operation<readonly Stored<T>[]> {
  if (documents.length === 0) return [];
  const { name } = layout.definition;
  const chosen = documents.flatMap(({ id }) => id ?? []);
  // A removed document may have had one of the ids that the caller chose.
  const now = layout.stamps.beginning(name, chosen);
  const added: Stored<T>[] = [];
  const rows: NewRow[] = [];
  for (const { id = layout.stamps.id(), text } of documents) {
    const stored = toStored<T>(name, [id, 1, now, now, text, null]);
    added.push(stored);
    rows.push({ id, version: 1, createdAt: now, updatedAt: now, deletedAt: null, text, stored });
  }
  const recording = { kind: "insert", at: now } as const;
  yield* withoutExpired(layout, () => layout.insert(rows, recording));
  yield { kind: "added", collection: name, count: rows.length };
  return added;
}

/** Repeats work after removing expired documents that may hold the unique value. */
export function withoutExpired<R>(layout: Layout, work: () => Operation<R>): Operation<R> {
  return layout.expiresAt === undefined ? work() : repeatWithoutExpired(layout, work);
}

function* repeatWithoutExpired<R>(layout: Layout, work: () => Operation<R>): Operation<R> {
  try {
    return yield* work();
  } catch (error) {
    if (!layout.isTaken(error) || (yield* removeExpired(layout)) === 0) throw error;
  }
  return yield* work();
}
