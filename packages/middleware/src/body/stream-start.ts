import { ByteCollector } from "@fetchwork/kit";

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** Reads chunks until they exceed the limit, in bytes. The rest stays with the reader. */
export async function readUpTo(
  reader: Reader,
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
 * Reads a body of fewer than `limit` bytes that is ready as a whole, such as that of `new
 * Response("text")`. A body that is larger, or that is not ready, continues as a stream.
 */
export async function readIfSmall(
  body: ReadableStream<Uint8Array>,
  limit: number,
): Promise<
  { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly stream: ReadableStream<Uint8Array> }
> {
  const reader: Reader = body.getReader();
  const collector = new ByteCollector();
  const start = (): Uint8Array | undefined => (collector.size === 0 ? undefined : collector.join());
  const turn = endOfTurn();
  for (;;) {
    const next = reader.read();
    // A failure belongs to the reader of the stream.
    const result = await Promise.race([next.catch(() => undefined), turn]);
    if (result === undefined) return { stream: continueStream(start(), reader, next) };
    if (result.done) return { bytes: collector.join() };
    collector.add(result.value);
    if (collector.size >= limit) return { stream: continueStream(start(), reader) };
  }
}

/**
 * Waits for the first chunk of a stream, which is undefined when the stream is empty. Cancels the
 * stream when the signal aborts.
 */
export async function peekStream(
  source: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<{
  readonly first: Uint8Array | undefined;
  readonly stream: ReadableStream<Uint8Array>;
}> {
  const reader: Reader = source.getReader();
  const onAbort = (): void => {
    reader.cancel(signal.reason).catch(() => undefined);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const { value: first } = await reader.read().finally(() => {
    signal.removeEventListener("abort", onAbort);
  });
  return { first, stream: continueStream(first, reader) };
}

/**
 * A stream of the bytes that were read and the rest of the reader.
 *
 * @param ahead - A read that was started and has not been awaited.
 */
export function continueStream(
  bytes: Uint8Array | undefined,
  reader: Reader,
  ahead?: Promise<ReadableStreamReadResult<Uint8Array>>,
): ReadableStream<Uint8Array> {
  let pending = bytes;
  let started = ahead;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let value = pending;
        pending = undefined;
        if (value === undefined) {
          const next = started ?? reader.read();
          started = undefined;
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

/** Resolves when all that is ready has run: a whole body has been read by then. */
export function endOfTurn(): Promise<undefined> {
  return new Promise((resolve) => {
    const { setImmediate = setTimeout } = globalThis as {
      readonly setImmediate?: (callback: () => void) => unknown;
    };
    setImmediate(() => resolve(undefined));
  });
}
