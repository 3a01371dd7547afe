import type { ExchangeWatch } from "@fetchwork/http/transport";
import { ByteCollector } from "@fetchwork/kit";

/** The beginning of a streamed body, for the log. */
export class BodyLog {
  static readonly #maxBytes = 65_536;
  readonly #bytes = new ByteCollector();

  add(chunk: Uint8Array): void {
    // A copy, because the receiver of the chunk may change it. More than the maximum shows that the
    // body is too large.
    if (this.#bytes.size <= BodyLog.#maxBytes) this.#bytes.add(chunk.slice());
  }

  /** The body, or a note when it is too large. */
  get content(): Uint8Array | string {
    const { size } = this.#bytes;
    return size > BodyLog.#maxBytes ? `(more than ${BodyLog.#maxBytes} bytes)` : this.#bytes.join();
  }
}

/** Callbacks while a body is sent. */
export interface UploadWatch {
  readonly watch: ExchangeWatch;
  readonly log: BodyLog | undefined;
  /** Called when the body has been sent. */
  readonly onEnd: () => void;
}

/** Restarts the wait for the server with each piece sent: it needs all of them to respond. */
export function watchUpload(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  { watch, log, onEnd }: UploadWatch,
): ReadableStream<Uint8Array> {
  return toReadableStream(body).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        watch.start();
        log?.add(chunk);
        controller.enqueue(chunk);
      },
      flush: onEnd,
    }),
  );
}

function toReadableStream(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
): ReadableStream<Uint8Array> {
  if (body instanceof ReadableStream) return body;
  const iterator: AsyncIterator<Uint8Array, unknown> = body[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const result = await iterator.next();
      if (result.done === true) controller.close();
      else controller.enqueue(result.value);
    },
    async cancel(reason) {
      await iterator.return?.(reason);
    },
  });
}
