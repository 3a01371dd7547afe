import { ByteCollector } from "@fetchwork/kit";
import { endOfTurn } from "../../runtime/end-of-turn.ts";
import { continueStream } from "../../body/read-up-to.ts";

/** A body that turned out to be small, or the stream as it was. */
export type SmallBody =
  { readonly bytes: Uint8Array<ArrayBuffer> } | { readonly stream: ReadableStream<Uint8Array> };

/**
 * Reads a body of fewer than `limit` bytes that is there as a whole, as that of `new Response("text")` is. Waits for
 * nothing that is not ready: a body which is larger, or comes later, goes on as a stream.
 */
export async function readSmall(
  body: ReadableStream<Uint8Array>,
  limit: number,
): Promise<SmallBody> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const collector = new ByteCollector();
  const turn = endOfTurn();
  for (;;) {
    const next = reader.read();
    // A failure is for whoever reads the stream.
    const result = await Promise.race([next.catch(() => undefined), turn]);
    if (result === undefined) return { stream: continueStream(started(collector), reader, next) };
    if (result.done) return { bytes: collector.join() };
    collector.add(result.value);
    if (collector.size >= limit) return { stream: continueStream(started(collector), reader) };
  }
}

function started(collector: ByteCollector): Uint8Array | undefined {
  return collector.size === 0 ? undefined : collector.join();
}
