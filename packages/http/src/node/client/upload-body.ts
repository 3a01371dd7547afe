import { Readable } from "node:stream";
import { HttpUsageError } from "../../errors.ts";
import { headerError } from "./request-head.ts";

/** The stream that a caller sends failed; `cause` is why. */
export class UploadFailure extends Error {}

/**
 * Hands a caller's stream to undici piece by piece, as fast as the connection takes it. The stream
 * must have the announced length. Destroyed, it cancels the source.
 */
export class UploadBody extends Readable {
  readonly #source: ReadableStreamDefaultReader<Uint8Array>;
  readonly #announced: number | undefined;
  #sent = 0;

  constructor(stream: ReadableStream<Uint8Array>, announced: number | undefined) {
    super({ highWaterMark: 0 });
    this.#source = stream.getReader();
    this.#announced = announced;
  }

  override _read(): void {
    this.#source.read().then(
      ({ done, value }) => {
        if (this.destroyed) return;
        const wrong = done ? this.#checkEnd() : this.#checkChunk(value);
        if (wrong !== undefined) this.destroy(wrong);
        else if (done) this.push(null);
        else if (value.byteLength === 0) this._read();
        else for (const piece of piecesOf(value)) this.push(piece);
      },
      (cause: unknown) => {
        const isOurs = cause instanceof HttpUsageError;
        this.destroy(isOurs ? cause : new UploadFailure("the body's stream failed", { cause }));
      },
    );
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    // Whether the source could stop no longer matters.
    this.#source.cancel(error ?? undefined).catch(() => undefined);
    callback(error);
  }

  #checkChunk(chunk: unknown): HttpUsageError | undefined {
    if (!(chunk instanceof Uint8Array)) {
      const problem = `a piece of the body is of type ${typeof chunk}, not a Uint8Array`;
      return new HttpUsageError("ERR_HTTP_BODY", problem);
    }
    this.#sent += chunk.byteLength;
    const announced = this.#announced ?? Infinity;
    if (this.#sent <= announced) return undefined;
    return headerError("content-length", `is ${announced}, but the body has more bytes`);
  }

  #checkEnd(): HttpUsageError | undefined {
    const announced = this.#announced ?? this.#sent;
    if (this.#sent === announced) return undefined;
    return headerError("content-length", `is ${announced}, but the body has ${this.#sent} bytes`);
  }
}

/** Splits a large body as {@link piecesOf} does, and sets its length. */
export function inPieces(
  body: string | Uint8Array | undefined,
  headers: string[],
): string | Uint8Array | undefined {
  if (body === undefined || body.length <= pieceSize) return body;
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  headers.push("content-length", String(bytes.byteLength));
  // undici accepts any iterable, and reads it again when a request is repeated; its types do not.
  return { [Symbol.iterator]: () => piecesOf(bytes) } as unknown as Uint8Array;
}

const pieceSize = 65_536;

/**
 * Splits what undici would write at once, and take for sent before the connection has taken it.
 *
 * @yields Parts of at most 64 KiB.
 */
function* piecesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += pieceSize) {
    yield bytes.subarray(start, start + pieceSize);
  }
}
