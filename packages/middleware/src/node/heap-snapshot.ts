import { Readable } from "node:stream";
import { getHeapSnapshot } from "node:v8";

/**
 * A snapshot of the heap as a stream of JSON, in the format of `.heapsnapshot` files. Making it stops the process for
 * some seconds and takes as much memory as the heap.
 *
 * @param done - Called once, when the last byte was read or the reader has gone.
 */
export function heapSnapshot(done: () => void): ReadableStream<Uint8Array> {
  const snapshot = getHeapSnapshot();
  snapshot.once("close", done);
  const reader = Readable.toWeb(snapshot).getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const result: { readonly done: boolean; readonly value?: unknown } = await reader.read();
        if (result.done) controller.close();
        else controller.enqueue(toBytes(result.value));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function toBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
}
