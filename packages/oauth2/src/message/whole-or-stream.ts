import { ByteCollector } from "@fetchwork/kit";

/** Bytes that are collected beyond the first chunk, of a stream that never waits. */
const maxCollected = 1_048_576;

/**
 * Takes the body of a `Request` as bytes when it is all there already, as text and bytes are: then
 * it has a `Content-Length`, which some servers insist on, and can be sent twice. Otherwise it
 * stays a stream, and nothing of it is waited for.
 */
export async function wholeOrStream(
  body: ReadableStream<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const reader = body.getReader();
  const bytes = new ByteCollector();
  const { promise: isLater, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, 0, undefined);
  try {
    for (let first = 0; ;) {
      const next = reader.read();
      const isTooMuch = bytes.size - first > maxCollected;
      const result = isTooMuch ? undefined : await Promise.race([next, isLater]);
      if (result === undefined) return continued(bytes.join(), next, reader);
      if (result.done) return bytes.join();
      bytes.add(result.value);
      first ||= bytes.size;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A stream of what was read, of what is being read, and of the rest. */
function continued(
  start: Uint8Array,
  next: Promise<ReadableStreamReadResult<Uint8Array>>,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  let pending: typeof next | undefined = next;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (start.byteLength > 0) controller.enqueue(start);
      },
      async pull(controller) {
        const { done, value } = await (pending ?? reader.read());
        pending = undefined;
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
