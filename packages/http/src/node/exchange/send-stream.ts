import type { ServerResponse } from "node:http";
import { HttpError, HttpUsageError } from "../../errors.ts";
import type { PreparedResponse } from "../../message/fast-response.ts";
import type { NodeExchange } from "./node-exchange.ts";
import { sendError } from "./send-error.ts";
import { writeHead } from "./write-head.ts";

/** Event loop turns without a chunk after which a body is taken for one not in memory. */
const maxQuietTurns = 2;

/** Maximum turns of the event loop for which a chunk is held back. */
const maxTurns = 8;

/** Maximum bytes held back to see whether the body ends; or the whole first chunk. */
const maxHeldBytes = 64 * 1024;

/** Maximum bytes of a body that are cheaper to write as text. */
const maxTextBytes = 16 * 1024;

/**
 * Sends a body as it comes, no faster than the client reads it.
 *
 * A body that ends within a few turns of the event loop is sent whole and with its length; so ends
 * that of a `Response` of text, bytes, a form or a blob. All others are sent in chunks, of which
 * only the first waits, for two turns. The head is sent alone when there is no chunk in the first
 * turn. A stream that fails before the head can still become a 500.
 */
export function sendStream(
  exchange: NodeExchange,
  prepared: PreparedResponse,
  stream: ReadableStream<unknown>,
): void {
  new StreamSender(exchange, prepared, stream.getReader()).send();
}

class StreamSender {
  readonly #exchange: NodeExchange;
  readonly #prepared: PreparedResponse;
  readonly #reader: ReadableStreamDefaultReader<unknown>;
  readonly #declared: number | undefined;
  #held: Uint8Array[] = [];
  #size = 0;
  #turns = 0;
  #quietTurns = 0;

  constructor(
    exchange: NodeExchange,
    prepared: PreparedResponse,
    reader: ReadableStreamDefaultReader<unknown>,
  ) {
    this.#exchange = exchange;
    this.#prepared = prepared;
    this.#reader = reader;
    this.#declared = declaredLength(prepared);
  }

  send(): void {
    const turn = setImmediate(() => this.#countTurn());
    this.#pump().then(
      () => clearImmediate(turn),
      (error: unknown) => {
        clearImmediate(turn);
        this.#fail(error);
      },
    );
  }

  async #pump(): Promise<void> {
    const { response } = this.#exchange;
    while (true) {
      const { done, value } = await this.#reader.read();
      if (this.#exchange.isDisconnected) {
        this.#reader.cancel(disconnectReason()).catch(() => undefined);
        return;
      }
      if (done) break;
      const chunk = this.#check(value);
      if (chunk.byteLength === 0) continue;
      if (this.#held.length > 0 && this.#size > maxHeldBytes) this.#sendHeld();
      if (!response.headersSent) {
        this.#held.push(chunk);
        this.#quietTurns = 0;
      } else if (!(await this.#write(chunk))) {
        return;
      }
    }
    if (this.#declared !== undefined && this.#size < this.#declared) {
      throw lengthError(this.#prepared);
    }
    if (response.headersSent) response.end();
    else this.#sendWhole();
  }

  #check(value: unknown): Uint8Array {
    if (!(value instanceof Uint8Array)) {
      throw new HttpUsageError(
        "ERR_HTTP_RESPONSE",
        `the stream of a body must contain Uint8Array, got ${typeof value}`,
      );
    }
    this.#size += value.byteLength;
    if (this.#declared !== undefined && this.#size > this.#declared) {
      throw lengthError(this.#prepared);
    }
    return value;
  }

  /** Writes a chunk when there is room for it. Returns false when the client has left. */
  async #write(chunk: Uint8Array): Promise<boolean> {
    const { response } = this.#exchange;
    if (response.writableNeedDrain) await drained(response);
    if (this.#exchange.isDisconnected) return false;
    this.#exchange.bytes += chunk.byteLength;
    if (!response.write(chunk)) await drained(response);
    return true;
  }

  #sendWhole(): void {
    const { request, response } = this.#exchange;
    const [first] = this.#held;
    writeHead(this.#exchange, this.#prepared, this.#size);
    if (first === undefined || request.method === "HEAD") {
      response.end();
    } else {
      this.#exchange.bytes = this.#size;
      const bytes = this.#held.length === 1 ? first : Buffer.concat(this.#held);
      // Node writes a head and a text in one call to the system, a head and bytes in two.
      if (this.#size <= maxTextBytes) response.end(toLatin1(bytes), "latin1");
      else response.end(bytes);
    }
  }

  #countTurn(): void {
    const { isDisconnected, response } = this.#exchange;
    if (isDisconnected) this.#reader.cancel(disconnectReason()).catch(() => undefined);
    if (isDisconnected || response.headersSent) return;
    this.#turns += 1;
    this.#quietTurns += 1;
    const mayEnd = this.#quietTurns <= maxQuietTurns && this.#turns < maxTurns;
    if (this.#held.length > 0 && mayEnd) {
      setImmediate(() => this.#countTurn());
      return;
    }
    try {
      this.#sendHeld();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Sends the head, and the chunks that have come so far. */
  #sendHeld(): void {
    const { request, response } = this.#exchange;
    writeHead(this.#exchange, this.#prepared);
    if (request.method === "HEAD") {
      response.end();
      this.#reader.cancel().catch(() => undefined);
      return;
    }
    const onClose = (): void => {
      this.#reader.cancel(this.#exchange.error ?? disconnectReason()).catch(() => undefined);
    };
    response.on("close", onClose);
    // A write to a connection that was reset emits "error"; the "close" that follows is enough for
    // us.
    response.on("error", () => undefined);
    if (this.#held.length === 0) response.flushHeaders();
    for (const chunk of this.#held) {
      this.#exchange.bytes += chunk.byteLength;
      response.write(chunk);
    }
    this.#held = [];
  }

  #fail(error: unknown): void {
    sendError(this.#exchange, error);
    this.#reader.cancel(error).catch(() => undefined);
  }
}

/** Makes a text of one character for each byte, which Node writes as that byte. */
function toLatin1({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      response.off("drain", settle);
      response.off("close", settle);
      resolve();
    };
    response.on("drain", settle);
    response.on("close", settle);
  });
}

/** Reads `Content-Length`. A body of another length would break the next response. */
function declaredLength(prepared: PreparedResponse): number | undefined {
  const value = contentLength(prepared);
  if (value === undefined) return undefined;
  if (!/^\d+$/.test(value)) throw lengthError(prepared);
  return Number(value);
}

function lengthError(prepared: PreparedResponse): HttpError {
  return new HttpError(
    "ERR_HTTP_CONTENT_LENGTH",
    `the length of the body is not its Content-Length of ${contentLength(prepared)}`,
  );
}

function contentLength({ headers }: PreparedResponse): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index] === "content-length") return headers[index + 1];
  }
  return undefined;
}

function disconnectReason(): DOMException {
  return new DOMException("the client left before it had the whole response", "AbortError");
}
