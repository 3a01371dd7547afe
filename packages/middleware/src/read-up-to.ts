/** Reads chunks until they are more than the limit, in bytes; the rest stays with the reader. */
export async function readUpTo(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<{ readonly chunks: Uint8Array<ArrayBuffer>[]; readonly isWhole: boolean }> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  while (size <= limit) {
    const { done, value } = await reader.read();
    if (done) return { chunks, isWhole: true };
    size += value.byteLength;
    // The bodies of responses are in memory of their own; the types allow shared memory too.
    chunks.push(value as Uint8Array<ArrayBuffer>);
  }
  return { chunks, isWhole: false };
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
