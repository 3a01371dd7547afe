import { endOfTurn } from "../../body/stream-start.ts";

type Bytes = Uint8Array<ArrayBuffer>;
type ReadResult = ReadableStreamReadResult<Uint8Array>;

/** The part of an encoding stream of Node that is used. It flushes after each write. */
export interface ZlibStream {
  write(chunk: Uint8Array, callback: (error?: Error | null) => void): boolean;
  read(): Bytes | null;
  end(): unknown;
  destroy(): unknown;
  on(event: "readable" | "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** How a body of a single chunk is encoded: without a stream, at a tenth of the cost. */
export interface OnlyChunkOptions {
  readonly encodeOnly: (chunk: Uint8Array) => Bytes;
  /**
   * Maximum size in bytes of a first chunk that is held back. It waits until it is known whether it
   * is the only one. -1 sends every first chunk at once.
   */
  readonly maxOnlyChunk: number;
}

/**
 * Encodes a body chunk by chunk, each flushed. A chunk is read when the reader asks for one, so a
 * slow client slows the source down. Cancelling frees the encoder and cancels the source.
 *
 * @param makeStream - Called for the first chunk. The stream is always destroyed.
 */
export function flushChunks(
  source: ReadableStream<Uint8Array>,
  makeStream: () => ZlibStream,
  { encodeOnly, maxOnlyChunk }: OnlyChunkOptions,
): ReadableStream<Bytes> {
  const reader = source.getReader();
  let ahead: Promise<ReadResult> | undefined;
  let encoder: ChunkEncoder | undefined;
  let isCancelled = false;

  const isOnlyChunk = async (chunk: Uint8Array): Promise<boolean> => {
    if (chunk.byteLength > maxOnlyChunk) return false;
    ahead = reader.read();
    // A failure belongs to the next read.
    const next = await Promise.race([ahead.catch(() => undefined), endOfTurn()]);
    return next?.done === true;
  };

  /** Reads and encodes a chunk. Returns whether the pull is done: end, or output. */
  const step = async (controller: ReadableStreamDefaultController<Bytes>): Promise<boolean> => {
    const read = ahead ?? reader.read();
    ahead = undefined;
    const { done, value } = await read;
    if (isCancelled) return true;
    const isOnly = encoder === undefined && (done || (await isOnlyChunk(value)));
    if (isCancelled) return true;
    if (isOnly) {
      controller.enqueue(encodeOnly(value ?? new Uint8Array()));
      controller.close();
      return true;
    }
    encoder ??= new ChunkEncoder(makeStream());
    const encoded = done ? await encoder.end() : await encoder.write(value);
    if (isCancelled) return true;
    for (const chunk of encoded) controller.enqueue(chunk);
    if (done) controller.close();
    return done || encoded.length > 0;
  };

  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        try {
          // The platform does not repeat a pull that enqueues nothing.
          while (!(await step(controller))) continue;
        } catch (error) {
          encoder?.destroy();
          reader.cancel(error).catch(() => undefined);
          if (!isCancelled) throw error;
        }
      },
      async cancel(reason) {
        isCancelled = true;
        encoder?.destroy();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Writes to an encoding stream and collects its output. */
class ChunkEncoder {
  readonly #stream: ZlibStream;
  #encoded: Bytes[] = [];
  #settle: ((error?: Error | null) => void) | undefined;

  constructor(stream: ZlibStream) {
    this.#stream = stream;
    stream.on("readable", () => this.#drain());
    stream.on("end", () => this.#settle?.());
    stream.on("error", (error) => this.#settle?.(error));
    stream.on("close", () => this.#settle?.());
  }

  write(chunk: Uint8Array): Promise<readonly Bytes[]> {
    return this.#collect((done) => this.#stream.write(chunk, done));
  }

  end(): Promise<readonly Bytes[]> {
    return this.#collect(() => this.#stream.end());
  }

  destroy(): void {
    this.#stream.destroy();
    this.#settle?.();
  }

  #collect(start: (done: (error?: Error | null) => void) => void): Promise<readonly Bytes[]> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error | null): void => {
        this.#settle = undefined;
        if (error) {
          reject(error);
          return;
        }
        this.#drain();
        const encoded = this.#encoded;
        this.#encoded = [];
        resolve(encoded);
      };
      this.#settle = settle;
      start(settle);
    });
  }

  #drain(): void {
    for (let chunk = this.#stream.read(); chunk !== null; chunk = this.#stream.read()) {
      this.#encoded.push(chunk);
    }
  }
}
