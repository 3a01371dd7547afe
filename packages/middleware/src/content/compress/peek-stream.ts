import { continueStream } from "../../body/read-up-to.ts";

/** The first chunk of a stream, and the stream as it was before. */
export interface PeekedStream {
  /** Undefined when the stream is empty. */
  readonly first: Uint8Array | undefined;
  readonly stream: ReadableStream<Uint8Array>;
}

/** Waits for the first chunk of a stream. Gives up, and cancels the stream, when the signal says so. */
export async function peekStream(
  source: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<PeekedStream> {
  const reader = source.getReader();
  const onAbort = (): void => {
    reader.cancel(signal.reason).catch(() => undefined);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  const { value: first } = await reader.read().finally(() => {
    signal.removeEventListener("abort", onAbort);
  });
  const stream = continueStream(first, reader);
  return { first, stream };
}
