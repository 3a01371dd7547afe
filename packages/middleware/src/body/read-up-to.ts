import { ByteCollector } from "@fetchwork/kit";

/** Reads chunks until they are more than the limit, in bytes; the rest stays with the reader. */
export async function readUpTo(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
): Promise<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly isWhole: boolean }> {
  const collector = new ByteCollector();
  while (collector.size <= limit) {
    const { done, value } = await reader.read();
    if (done) return { bytes: collector.join(), isWhole: true };
    collector.add(value);
  }
  return { bytes: collector.join(), isWhole: false };
}

/**
 * The stream as it was: the bytes that were read, then what the reader still returns.
 *
 * @param ahead - A read that has begun and is not over.
 */
export function continueStream(
  bytes: Uint8Array | undefined,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  ahead?: Promise<ReadableStreamReadResult<Uint8Array>>,
): ReadableStream<Uint8Array> {
  let pending = bytes;
  let begun = ahead;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let value = pending;
        pending = undefined;
        if (value === undefined) {
          const next = begun ?? reader.read();
          begun = undefined;
          ({ value } = await next);
        }
        if (value === undefined) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
