import { ByteCollector } from "./byte-collector.ts";
import { FetchworkError } from "../errors/fetchwork-error.ts";

/** Options of {@link readBody}. */
export interface ReadBodyOptions {
  /** Maximum size in bytes; a larger body is an error, and the rest of it is not read. */
  readonly limit: number;
  /** Ends the reading: the body is cancelled and the call rejects with the signal's reason. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the size so far each time that bytes arrived, before they are kept. What it throws ends the reading, for
   * example because all bodies together are too large. Default: none.
   */
  readonly onSize?: ((size: number) => void) | undefined;
}

/** A body is larger than the limit. As a response it is 413 (RFC 9110, 15.5.14). */
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
 * Reads a whole body up to a limit. Whatever the sender does, it takes memory in proportion to the bytes that arrived
 * (at most three times as much while it grows). A body that is too large, fails or is aborted is cancelled.
 *
 * @param body - Body of a `Request` or `Response`; null is an empty one.
 * @throws BodyTooLargeError `ERR_KIT_BODY_TOO_LARGE`
 * @throws TypeError when the body is being read already
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
    // Not awaited: a source may take its time, and the outcome is known.
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

/** The body is abandoned; that giving up failed concerns nobody. */
function ignore(): void {}
