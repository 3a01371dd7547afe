import { createHash } from "node:crypto";
import type { Collection, Transaction } from "@fetchwork/documents";
import { taskCollections, type ContentRecord } from "./task-records.ts";

/** Content that is stored by its hash. */
export interface Content {
  readonly hash: string;
  readonly size: number;
  /** Its bytes, in pieces; may be read again. */
  readonly pieces: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** Bytes of a part; in Base64 it is well below the limit of a document. */
const partSize = 1_048_576;

/** Content that is in memory. */
export function contentOf(text: string | Uint8Array): Content {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { hash, size: bytes.byteLength, pieces: () => [bytes] };
}

/** Stores content of a task, unless the task has it already. */
export async function storeContent(
  tx: Transaction,
  taskId: string,
  { hash, pieces }: Content,
): Promise<void> {
  const contents = tx.collection(taskCollections.contents);
  if ((await contents.get(partId(taskId, hash, 0))) !== undefined) return;
  let number = 0;
  let rest = Buffer.alloc(0);
  const put = async (bytes: Uint8Array): Promise<void> => {
    const record = { taskId, bytes: Buffer.from(bytes).toString("base64") };
    await contents.insert(record, { id: partId(taskId, hash, number) });
    number += 1;
  };
  for await (const piece of pieces()) {
    rest = rest.byteLength === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    for (; rest.byteLength >= partSize; rest = rest.subarray(partSize)) {
      await put(rest.subarray(0, partSize));
    }
  }
  // An empty file has one empty part.
  if (rest.byteLength > 0 || number === 0) await put(rest);
}

/** Names a content of a task. */
export interface ContentPlace {
  readonly taskId: string;
  readonly hash: string;
  readonly size: number;
}

/**
 * Reads content part by part; fails when the task has been deleted.
 *
 * @yields Each part.
 */
export async function* readContent(
  contents: Collection<ContentRecord>,
  { taskId, hash, size }: ContentPlace,
): AsyncGenerator<Buffer, void, undefined> {
  for (let number = 0; number < partsOf(size); number += 1) {
    const record = await contents.get(partId(taskId, hash, number));
    if (record === undefined) throw new Error(`part ${number} of the content is gone`);
    yield Buffer.from(record.bytes, "base64");
  }
}

/** Removes content that nothing names any more. */
export async function removeContent(
  tx: Transaction,
  { taskId, hash, size }: ContentPlace,
): Promise<void> {
  const contents = tx.collection(taskCollections.contents);
  for (let number = 0; number < partsOf(size); number += 1) {
    await contents.remove(partId(taskId, hash, number));
  }
}

function partsOf(size: number): number {
  return Math.max(1, Math.ceil(size / partSize));
}

function partId(taskId: string, hash: string, number: number): string {
  return `${taskId}:${hash}:${number}`;
}
