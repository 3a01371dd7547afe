import type { DocumentRecord } from "@fetchwork/documents";

const MOST = 500;
/** Documents may have 16 MiB each. */
const MOST_CHARACTERS = 4 * 1024 * 1024;

/**
 * Gathers documents that come one after the other into batches of one collection.
 *
 * @yields Each batch.
 */
export async function* recordBatches(
  records: AsyncIterable<{ readonly collection: string; readonly record: DocumentRecord }>,
): AsyncGenerator<{ readonly collection: string; readonly records: readonly DocumentRecord[] }> {
  let collection = "";
  let batch: DocumentRecord[] = [];
  let characters = 0;
  for await (const next of records) {
    const isFull = batch.length >= MOST || characters >= MOST_CHARACTERS;
    if (batch.length > 0 && (isFull || next.collection !== collection)) {
      yield { collection, records: batch };
      batch = [];
      characters = 0;
    }
    ({ collection } = next);
    batch.push(next.record);
    characters += JSON.stringify(next.record.document).length;
  }
  if (batch.length > 0) yield { collection, records: batch };
}
