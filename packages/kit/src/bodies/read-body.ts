import { ByteCollector } from "./byte-collector.ts";
import { FetchworkError } from "../errors/fetchwork-error.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Maximum size in bytes. A larger body is an error; the rest of it is not read. */
  readonly limit: number;
  /** Stops reading: the body is cancelled, and the call rejects with the reason of the signal. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the size so far each time bytes arrive, before they are kept. An error that it throws stops reading, for
   * example because all bodies together are too large. Default: none.
   */
  readonly onSize?: ((size: number) => void) | undefined;
}

/** A body is larger than the limit. As a response it has status 413 (RFC 9110, 15.5.14). */
export class BodyTooLargeError extends FetchworkError {
  override readonly name: string = "BodyTooLargeError";
  declare readonly code: "ERR_KIT_BODY_TOO_LARGE";
  readonly status = 413;
  readonly expose = true;
  /** Maximum size in bytes. */
  readonly limit: number;

  constructor(limit: number) {
    super("ERR_KIT_BODY_TOO_LARGE", `the body is larger than ${limit} bytes`);
    this.limit = limit;
  }
}

/**
 * Reads a whole body up to a limit. The memory it takes is proportional to the bytes that arrived (at most three times as
 * much while it grows), whatever the sender does. A body that is too large, fails or is aborted is cancelled.
 *
 * @param body - Body of a `Request` or `Response`; null is an empty body.
 * @throws BodyTooLargeError `ERR_KIT_BODY_TOO_LARGE`
 * @throws TypeError When something else reads the body.
 */
export async function readBody(
  body: ReadableStream<Uint8Array> | null,
  options: ReadBodyOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new ByteCollector();
  if (body === null) return bytes.join();
  const { limit, signal, onSize } = options;
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const cancel = (reason?: unknown): void => {
    // Not awaited, because the source may take long and the outcome is known.
    reader.cancel(reason).catch(ignore);
  };
  const abort = (): void => cancel(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    signal?.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) return bytes.join();
      if (bytes.size + value.byteLength > limit) throw new BodyTooLargeError(limit);
      onSize?.(bytes.size + value.byteLength);
      bytes.add(value);
    }
  } catch (error) {
    cancel(error);
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

/** The body is abandoned, so an error of cancelling it does not matter. */
function ignore(): void {}
