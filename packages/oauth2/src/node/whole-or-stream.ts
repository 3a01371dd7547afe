import { ByteCollector } from "@fetchwork/kit";

/**
 * Takes a body as bytes when it is all there already, as text and bytes are, so that the request has a `Content-Length`,
 * which some servers insist on. Otherwise it is a stream, of which nothing is waited for.
 */
export async function wholeOrStream(
  body: ReadableStream<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const reader = body.getReader();
  const bytes = new ByteCollector();
  for (;;) {
    const next = reader.read();
    const result = await Promise.race([next, turnOfTheLoop()]);
    if (result === undefined) return continued(bytes.join(), next, reader);
    if (result.done) return bytes.join();
    bytes.add(result.value);
  }
}

function turnOfTheLoop(): Promise<undefined> {
  return new Promise((resolve) => setImmediate(resolve, undefined));
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
