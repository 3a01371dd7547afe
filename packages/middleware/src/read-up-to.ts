import { ChunkList } from "./chunk-list.ts";

/** Reads chunks until they are more than the limit, in bytes; the rest stays with the reader. */
export async function readUpTo(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<{ readonly chunks: Uint8Array<ArrayBuffer>[]; readonly isWhole: boolean }> {
  const list = new ChunkList();
  while (list.size <= limit) {
    const { done, value } = await reader.read();
    if (done) return { chunks: list.take(), isWhole: true };
    list.add(value);
  }
  return { chunks: list.take(), isWhole: false };
}

/** Puts chunks together; one alone is not copied. */
export function joinChunks(chunks: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first, second] = chunks;
  if (first !== undefined && second === undefined) return first;
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return joined;
}

/** The stream as it was: the chunks that were read, then what the reader still gives. */
export function continueStream(
  chunks: readonly Uint8Array[],
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  const pending = [...chunks];
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const value = pending.shift() ?? (await reader.read()).value;
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
