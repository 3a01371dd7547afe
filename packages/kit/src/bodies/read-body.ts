import { ByteCollector } from "./byte-collector.ts";
import { BodyShare } from "./body-budget.ts";
import { BodyTooLargeError } from "./body-errors.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Maximum size in bytes. A larger body is an error; the rest of it is not read. */
  readonly limit: number;
  /** Stops reading: cancels the body and rejects with the reason. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * In which the bytes count before they are kept. The caller closes it when the bytes are no
   * longer used; a failure closes it too. Default: the share that the stream has from the server
   * that received it, if any.
   */
  readonly share?: BodyShare | undefined;
}

/**
 * Reads a whole body up to a limit. The memory it takes is proportional to the bytes that arrived,
 * whatever the sender does. While it grows, it is at most three times as much. A body that is too
 * large, fails or is aborted is cancelled.
 *
 * @param body - Body of a `Request` or `Response`; null is an empty body.
 * @throws BodyTooLargeError `ERR_KIT_BODY_TOO_LARGE`
 * @throws BodyBudgetError `ERR_KIT_BODY_BUDGET` when the share of the body is refused
 * @throws TypeError When something else reads the body.
 */
export async function readBody(
  body: ReadableStream<Uint8Array> | null,
  options: ReadBodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new ByteCollector();
  if (body === null) return bytes.join();
  const { limit, signal, share = BodyShare.of(body) } = options;
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const cancel = (reason?: unknown): void => {
    // Not awaited, because the source may take long and the outcome is known.
    reader.cancel(reason).catch(ignore);
  };
  const abort = (): void => cancel(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  let refusal: Error | undefined;
  share?.start((error) => {
    refusal = error;
    cancel(error);
  });
  try {
    signal?.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (refusal !== undefined) throw refusal;
      if (done) {
        share?.settle();
        return bytes.join();
      }
      if (bytes.size + value.byteLength > limit) throw new BodyTooLargeError(limit);
      share?.grow(bytes.size + value.byteLength);
      bytes.add(value);
    }
  } catch (error) {
    share?.close();
    cancel(error);
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** The body is abandoned, so an error of cancelling it does not matter. */
function ignore(): void {}
