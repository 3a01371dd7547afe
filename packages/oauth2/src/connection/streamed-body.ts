import { ByteCollector } from "@fetchwork/kit";
import type { Deadline } from "./deadline.ts";

/** The beginning of a streamed body, for the log. */
export class BodyLog {
  static readonly #maxBytes = 65_536;
  readonly #bytes = new ByteCollector();

  add(chunk: Uint8Array): void {
    // A copy, because the receiver of the chunk may change it. More than the maximum shows that the body is too large.
    if (this.#bytes.size <= BodyLog.#maxBytes) this.#bytes.add(chunk.slice());
  }

  /** The body, or a note when it is too large. */
  get content(): Uint8Array | string {
    const { size } = this.#bytes;
    return size > BodyLog.#maxBytes ? `(more than ${BodyLog.#maxBytes} bytes)` : this.#bytes.join();
  }
}

/** What happens while a body is sent. */
export interface UploadWatch {
  readonly deadline: Deadline;
  readonly log: BodyLog | undefined;
  /** Called when the body has been sent. */
  readonly onEnd: () => void;
}

/** Waits for the server again with each piece that is sent, since it cannot respond before it has them all. */
export function watchUpload(
  body: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  { deadline, log, onEnd }: UploadWatch,
): ReadableStream<Uint8Array> {
  return toReadableStream(body).pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        deadline.start();
        log?.add(chunk);
        controller.enqueue(chunk);
      },
      flush: onEnd,
    }),
  );
}

/** What happens while a body is received. */
export interface DownloadWatch {
  readonly deadline: Deadline;
  readonly log: BodyLog | undefined;
  /** Called once, when the body has ended, failed or was cancelled. */
  readonly onEnd: () => void;
  /** Makes the error of a body that fails. */
  readonly toFailure: (error: unknown) => unknown;
}

/** Copies a response; its body fails when the next piece does not come in time. */
export function watchDownload(
  response: Response,
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { deadline, log, onEnd, toFailure }: DownloadWatch,
): Response {
  const reader = body.getReader();
  let hasEnded = false;
  const end = (): void => {
    deadline.release();
    if (!hasEnded) onEnd();
    hasEnded = true;
  };
  const watched = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        const { signal } = deadline;
        // A body may go on after its signal is aborted.
        const abort = (): void => {
          controller.error(signal?.reason);
          reader.cancel(signal?.reason).catch(() => {});
          end();
        };
        signal?.addEventListener("abort", abort, { once: true });
      },
      async pull(controller) {
        deadline.start();
        try {
          const { done, value } = await reader.read();
          deadline.stop();
          if (done) {
            end();
            controller.close();
            return;
          }
          log?.add(value);
          controller.enqueue(value);
        } catch (error) {
          controller.error(toFailure(error));
          end();
        }
      },
      async cancel(reason) {
        end();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const { status, statusText, headers } = response;
  return new Response(watched, { status, statusText, headers });
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
