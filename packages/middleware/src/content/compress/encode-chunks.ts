import { endOfTurn } from "../../runtime/end-of-turn.ts";
import type { ZlibStream } from "./native-zlib.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** How chunks are encoded. */
export interface ChunkEncoding {
  /** Makes an encoder that flushes after each write. It is made for the first chunk, and destroyed in any event. */
  readonly makeStream: () => ZlibStream;
  /** Encodes a body that turns out to be one chunk, which costs a tenth of a stream. */
  readonly encodeNow: (chunk: Uint8Array) => Bytes;
  /** Whether the first chunk must go out before anybody asks for the second one. */
  readonly isLive: boolean;
  /** In bytes. */
  readonly largestSyncChunk: number;
}

/**
 * Encodes a body chunk by chunk, each flushed. A chunk is read when the reader asks for one, so a slow client slows the
 * source down, and whoever cancels frees the encoder and cancels the source.
 */
export function encodeChunks(
  source: ReadableStream<Uint8Array>,
  encoding: ChunkEncoding,
): ReadableStream<Bytes> {
  const reader = source.getReader();
  let ahead: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  let pump: EncoderPump | undefined;
  let isCancelled = false;

  const read = (): Promise<ReadableStreamReadResult<Uint8Array>> => {
    const result = ahead ?? reader.read();
    ahead = undefined;
    return result;
  };

  /** Encodes the first chunk, and notices when it is the only one. */
  const encodeFirst = async (chunk: Uint8Array): Promise<readonly Bytes[] | undefined> => {
    if (!encoding.isLive && chunk.byteLength <= encoding.largestSyncChunk) {
      ahead = reader.read();
      if (await endsInThisTurn(ahead)) return undefined;
      if (isCancelled) return [];
    }
    pump = new EncoderPump(encoding.makeStream());
    return pump.write(chunk);
  };

  const step = async (controller: ReadableStreamDefaultController<Bytes>): Promise<boolean> => {
    const { done, value } = await read();
    if (isCancelled) return true;
    let encoded: readonly Bytes[] | undefined;
    let isLast = done;
    if (done) {
      encoded = pump === undefined ? [encoding.encodeNow(new Uint8Array())] : await pump.end();
    } else if (pump === undefined) {
      encoded = await encodeFirst(value);
      if (encoded === undefined) {
        encoded = [encoding.encodeNow(value)];
        isLast = true;
      }
    } else {
      encoded = await pump.write(value);
    }
    if (isCancelled) return true;
    for (const chunk of encoded) controller.enqueue(chunk);
    if (isLast) controller.close();
    return isLast || encoded.length > 0;
  };

  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        try {
          // A pull that gives nothing is not repeated.
          while (!(await step(controller))) continue;
        } catch (error) {
          pump?.destroy();
          reader.cancel(error).catch(() => undefined);
          if (!isCancelled) throw error;
        }
      },
      async cancel(reason) {
        isCancelled = true;
        pump?.destroy();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** Whether the source ends before anything else happens; a body that was given whole does. */
async function endsInThisTurn(
  next: Promise<ReadableStreamReadResult<Uint8Array>>,
): Promise<boolean> {
  // A failure is for whoever reads this result next.
  const first = await Promise.race([next.catch(() => undefined), endOfTurn()]);
  return first?.done === true;
}

/** Writes to an encoder and collects what comes out. */
class EncoderPump {
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
