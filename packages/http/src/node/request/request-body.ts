import type { BodySource } from "../../message/lazy-request.ts";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { type BodyBudget, type BodyShare, ByteCollector } from "@fetchwork/kit";
import { HttpUsageError } from "../../errors.ts";
import { passOn } from "../../message/pass-on.ts";
import { readWhole, RequestTooLargeError, toRequestError } from "../../message/read-whole.ts";
import { isHttp2 } from "./reject-request.ts";
import { discardBody } from "./unread-body.ts";

/** Decisions of a server or a listener about received requests. */
export interface ReceiveOptions {
  /** Maximum size of a body in bytes. Default: no limit. */
  readonly maxRequestBodySize: number | undefined;
  /** Maximum size in bytes of a body that is read whole. */
  readonly maxBodySize: number;
  /** In which bodies count that are read whole. */
  readonly bodyBudget: BodyBudget;
  /** Whether code before us, such as Express, may have read or changed the message. */
  readonly isBehindOthers: boolean;
}

/**
 * The body of a request, read from Node's message on demand. A body over a limit fails with
 * `BodyTooLargeError`. A body that is read whole counts in its share of the server's budget.
 */
export class RequestBody implements BodySource {
  readonly #message: IncomingMessage;
  readonly #contentType: () => string | null;
  readonly #maxSize: number;
  readonly #share: BodyShare;
  /** Whether a body parser in front of us has read it. */
  readonly #isTaken: boolean;
  #stream: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;
  #isRead = false;

  /**
   * @param contentType - Returns the type that `blob` and `formData` need.
   * @param share - Its limit is the maximum size of a body that is read whole.
   */
  constructor(
    message: IncomingMessage,
    contentType: () => string | null,
    share: BodyShare,
    { maxRequestBodySize = Infinity, isBehindOthers }: ReceiveOptions,
  ) {
    this.#message = message;
    this.#contentType = contentType;
    this.#maxSize = maxRequestBodySize;
    this.#share = share;
    this.#isTaken = isBehindOthers && message.readableDidRead;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> {
    this.#stream ??= this.#openStream();
    return this.#stream;
  }

  get bodyUsed(): boolean {
    return this.#isRead || (this.#stream !== undefined && isDisturbed(this.#stream));
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return (await this.bytes()).buffer;
  }

  async blob(): Promise<Blob> {
    return (await this.#readResponse()).blob();
  }

  async bytes(): Promise<Uint8Array<ArrayBuffer>> {
    // A copy, because Node's buffers are parts of larger ones.
    return new Uint8Array(await this.#read());
  }

  async formData(): Promise<FormData> {
    return (await this.#readResponse()).formData();
  }

  async json(): Promise<unknown> {
    const value: unknown = JSON.parse(await this.text());
    return value;
  }

  async text(): Promise<string> {
    return decoder.decode(await this.#read());
  }

  /** The platform's reader of forms and blobs. */
  async #readResponse(): Promise<Response> {
    const type = this.#contentType();
    const bytes = await this.bytes();
    return new Response(bytes, { headers: type === null ? [] : [["content-type", type]] });
  }

  /** Reads the whole body, without a stream if none was opened. */
  async #read(): Promise<Uint8Array> {
    if (this.bodyUsed) throw usedError();
    if (this.#stream !== undefined) return readWhole(this.#stream, this.#share.limit, this.#share);
    this.#isRead = true;
    const kept = keptBytes(this.#message);
    if (kept !== undefined) {
      if (kept.byteLength > this.#maxSize) throw new RequestTooLargeError(this.#maxSize);
      return kept;
    }
    const failure = this.#failure();
    if (failure !== undefined) throw failure;
    const { limit } = this.#share;
    if (declaredLength(this.#message) > limit) throw new RequestTooLargeError(limit);
    return readMessage(this.#message, Math.min(this.#maxSize, limit), this.#share);
  }

  #openStream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const kept = keptBytes(this.#message);
    const failure = kept === undefined ? this.#failure() : undefined;
    if (this.#isRead || failure !== undefined) return failingStream(failure ?? usedError());
    const readable = kept === undefined ? this.#message : Readable.from([kept]);
    const stream = toLimitedStream(readable, this.#maxSize);
    this.#share.attachTo(stream);
    return stream;
  }

  /** Why the message cannot be read; undefined when it can. */
  #failure(): Error | undefined {
    const message = this.#message;
    if (isClientGone(message)) return goneReason(message);
    if (this.#isTaken) {
      return new HttpUsageError(
        "ERR_HTTP_BODY_USED",
        "the body was already read, for example by express.json(): put toNodeListener() before the parser",
      );
    }
    return message.destroyed || message.readableEnded ? usedError() : undefined;
  }
}

const decoder = new TextDecoder();

/** Makes a stream of a readable one of Node, which fails when it is larger than `maxSize` bytes. */
export function toLimitedStream(
  readable: Readable,
  maxSize: number = Infinity,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  // The same class; the two sets of types differ.
  const stream = Readable.toWeb(readable) as unknown as ReadableStream<Uint8Array<ArrayBuffer>>;
  ignoreDataAfterCancel(readable);
  if (maxSize === Infinity) return stream;
  let size = 0;
  return passOn(stream, {
    onPiece: ({ byteLength }) => {
      size += byteLength;
      if (size > maxSize) throw new RequestTooLargeError(maxSize);
    },
  });
}

/**
 * Data that is on its way when the stream of `Readable.toWeb` is cancelled still arrives. Node's
 * listener then throws in an event of the message, where nobody can catch it.
 */
function ignoreDataAfterCancel(readable: Readable): void {
  const onData = readable.listeners("data").at(-1);
  if (onData === undefined) return;
  readable.removeAllListeners("data");
  readable.on("data", (chunk: unknown) => {
    if (!readable.destroyed) Reflect.apply(onData, readable, [chunk]);
  });
}

/** Returns whether the client left before the request was whole. */
export function isClientGone(message: IncomingMessage): boolean {
  // A message of HTTP/2 is complete as soon as its stream is closed.
  if (isHttp2(message) && message.stream.aborted) return true;
  // Bun has undefined for null.
  return Boolean(message.errored) || (message.destroyed && !message.complete);
}

/** Length that a message declares; 0 when it declares none. */
function declaredLength({ headers }: IncomingMessage): number {
  return Number(headers["content-length"] ?? 0);
}

function readMessage(
  message: IncomingMessage,
  maxSize: number,
  share: BodyShare,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const bytes = new ByteCollector();
    const stop = (): void => {
      message.off("data", onData).off("end", onEnd).off("error", fail).off("close", onClose);
    };
    const fail = (error: Error): void => {
      stop();
      share.close();
      reject(error);
    };
    const refuse = (error: Error): void => {
      fail(error);
      discardBody(message);
    };
    const onData = (chunk: Buffer): void => {
      const size = bytes.size + chunk.byteLength;
      try {
        if (size > maxSize) throw new RequestTooLargeError(maxSize);
        share.grow(size);
      } catch (error) {
        return refuse(toRequestError(error));
      }
      bytes.add(chunk);
    };
    const onEnd = (): void => {
      if (isClientGone(message)) return fail(goneReason(message));
      stop();
      share.settle();
      resolve(bytes.join());
    };
    const onClose = (): void => fail(goneReason(message));
    share.start(refuse);
    message.on("data", onData).on("end", onEnd).on("error", fail).on("close", onClose);
  });
}

/** Bytes that a parser or a cloud runtime before us kept under the agreed name. */
function keptBytes(message: IncomingMessage): Buffer | undefined {
  return "rawBody" in message && Buffer.isBuffer(message.rawBody) ? message.rawBody : undefined;
}

function failingStream(error: unknown): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream(
    { pull: (controller) => controller.error(error) },
    { highWaterMark: 0 },
  );
}

function isDisturbed(stream: ReadableStream): boolean {
  // It accepts web streams too, but its types do not.
  return Readable.isDisturbed(stream as unknown as Readable);
}

function usedError(): TypeError {
  return new TypeError("Body is unusable: BodySource has already been read");
}

function goneReason({ errored }: IncomingMessage): Error {
  return errored ?? new DOMException("The request was aborted.", "AbortError");
}
