import type { ServerResponse } from "node:http";
import { CapturedResponse } from "./captured-response.ts";
import type { FrameworkExchange } from "./framework-exchange.ts";
import {
  functionsOf,
  intercept,
  isIntercepted,
  writerOf,
  type InterceptedWriter,
} from "./intercept-response.ts";
import { messageHeaders } from "./message-headers.ts";
import {
  applyHead,
  byteLengthOf,
  callbackOf,
  checkChunk,
  encodingOf,
  isUtf8,
  toBytes,
  type Chunk,
  type WriteCallback,
} from "./write-arguments.ts";
import { hasBody, sendResponse, type ResponseFunctions } from "./send-response.ts";

interface HeldCall {
  readonly kind: "write" | "end" | "flush";
  readonly chunk: Chunk | undefined;
  readonly encoding: BufferEncoding | undefined;
  readonly callback: WriteCallback | undefined;
}

/** Waits for the response of what stands inside. */
type Waiter = (response: Response) => void;

/** Bytes that a framework may write ahead of the middlewares. */
const maxHeldBytes = 64 * 1024;

/**
 * Intercepts what a framework writes into Node's response, and shows it to middlewares as a {@link CapturedResponse}.
 *
 * - `open`: nothing was written.
 * - `held`: the head is known; writes are held until the middlewares are done with it, mostly within the same call.
 * - `passing`: the middlewares left the body alone; writes go to Node as they are.
 * - `streaming`: a middleware reads the body.
 * - `replaced`: another response was sent; writes are dropped.
 */
export class ResponseCapture implements InterceptedWriter {
  readonly #exchange: FrameworkExchange;
  readonly #functions: ResponseFunctions;
  readonly #waiters: Waiter[];
  #state: "open" | "held" | "passing" | "streaming" | "replaced";
  #captured: CapturedResponse | undefined;
  #held: HeldCall[];
  #heldBytes: number;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  #needsDrain: boolean;
  /** Whether Node's own `end` runs: over HTTP/2, and in Fastify's `inject`, it calls `write` of the response. */
  #isEnding: boolean;
  /** Whether the head is Node's to write. */
  #isSent: boolean;
  /** The capture of a middleware outside, when somebody patched the response between the two. */
  readonly outer: InterceptedWriter | undefined;
  readonly depth: number;

  constructor(exchange: FrameworkExchange) {
    const { response } = exchange;
    this.outer = writerOf(response);
    this.depth = this.outer === undefined ? 0 : this.outer.depth + 1;
    this.#exchange = exchange;
    this.#functions = functionsOf(response);
    this.#waiters = [];
    this.#state = "open";
    this.#captured = undefined;
    this.#held = [];
    this.#heldBytes = 0;
    this.#controller = undefined;
    this.#needsDrain = false;
    this.#isEnding = false;
    this.#isSent = false;
    intercept(response, this);
  }

  /** Whether the response's functions are still those of this capture. */
  get isInPlace(): boolean {
    return isIntercepted(this.#exchange.response, this.depth);
  }

  /** Whether the framework has begun to write, and nothing was sent yet. */
  get holdsHead(): boolean {
    if (this.#state === "held" || this.#state === "streaming") return true;
    return this.outer?.holdsHead ?? false;
  }

  /** Whether the framework has begun to write. */
  get hasBegun(): boolean {
    return this.#state !== "open";
  }

  /** Whether the whole response is held, so that another one may still be written in its place. */
  get isWhole(): boolean {
    return this.#state === "held" && this.#held.some(({ kind }) => kind === "end");
  }

  /** Runs the framework and returns its response: at once when it has written before `start` returned. */
  wait(start: () => void): { waiter: Waiter; result: Response | Promise<Response> } {
    let found: Response | undefined;
    let resolve: Waiter | undefined;
    const waiter: Waiter = (response) => {
      if (resolve === undefined) found = response;
      else resolve(response);
    };
    this.#waiters.push(waiter);
    try {
      start();
    } catch (error) {
      this.forget(waiter);
      throw error;
    }
    const result =
      found ??
      new Promise<Response>((settle) => {
        resolve = settle;
      });
    return { waiter, result };
  }

  /** Takes what a middleware returned: for the next one outside, or for the client. */
  settle(response: Response, own: Waiter | undefined): void {
    this.forget(own);
    const outer = this.#waiters.pop();
    if (response !== this.#captured) this.#replace();
    if (outer !== undefined) outer(response);
    else if (response === this.#captured && !CapturedResponse.isTaken(this.#captured)) this.#pass();
    else {
      const isDerived = this.#captured !== undefined;
      this.#replace();
      this.#isSent = true;
      const end = (...given: readonly unknown[]): ServerResponse => this.#endNow(given);
      const functions = { ...this.#functions, end };
      sendResponse(this.#exchange, functions, response, isDerived ? "replace" : "add");
    }
  }

  /** No longer waits for a response on behalf of a middleware that failed or responded early. */
  forget(waiter: Waiter | undefined): void {
    const index = waiter === undefined ? -1 : this.#waiters.indexOf(waiter);
    if (index !== -1) this.#waiters.splice(index, 1);
  }

  /** Forgets the held response, so that the framework can write one of the error. */
  reopen(): void {
    const { response } = this.#exchange;
    this.#state = "open";
    for (const name of contentHeaders) response.removeHeader(name);
    this.#captured = undefined;
    this.#held = [];
    this.#heldBytes = 0;
  }

  writeHead(status: number, rest: readonly unknown[]): void {
    const { response } = this.#exchange;
    if (this.#isSent) Reflect.apply(this.#functions.writeHead, response, [status, ...rest]);
    else if (this.#state === "open") applyHead(response, status, rest);
  }

  write(chunk: unknown, second: unknown, third: unknown): boolean {
    if (this.#isEnding) {
      const { write } = this.#functions;
      return Reflect.apply(write, this.#exchange.response, [chunk, second, third]) === true;
    }
    checkChunk(chunk);
    const callback = callbackOf(second, third);
    return this.#call({ kind: "write", chunk, encoding: encodingOf(second), callback });
  }

  end(first: unknown, second: unknown, third: unknown): void {
    const chunk = typeof first === "function" ? undefined : (first ?? undefined);
    if (chunk !== undefined) checkChunk(chunk);
    const encoding = chunk === undefined ? undefined : encodingOf(second);
    this.#call({ kind: "end", chunk, encoding, callback: callbackOf(first, second, third) });
  }

  /** Node's functions for headers, which the framework must not change once it has begun to write. */
  get headerFunctions(): ResponseFunctions {
    if (this.#state === "open" || this.#isSent) return this.#functions;
    throw Object.assign(new Error("the headers are sent: they cannot be changed any more"), {
      code: "ERR_HTTP_HEADERS_SENT",
    });
  }

  flushHeaders(): void {
    this.#call({ kind: "flush", chunk: undefined, encoding: undefined, callback: undefined });
  }

  #endNow(given: readonly unknown[]): ServerResponse {
    const { response } = this.#exchange;
    this.#isEnding = true;
    try {
      Reflect.apply(this.#functions.end, response, given);
    } finally {
      this.#isEnding = false;
    }
    return response;
  }

  /** Handles one call of the framework; false asks it to wait for "drain". */
  #call(held: HeldCall): boolean {
    if (this.#state === "open") return this.#begin(held);
    if (this.#state === "held") return this.#hold(held);
    if (this.#state === "passing") return this.#forward(held);
    if (this.#state === "streaming") return this.#enqueue(held);
    if (held.callback !== undefined) queueMicrotask(held.callback);
    return false;
  }

  #begin(held: HeldCall): boolean {
    const { response } = this.#exchange;
    const waiter = this.#waiters.pop();
    if (waiter === undefined) {
      // Nobody inside of this capture asked for the response, as after the failure of a middleware.
      this.#state = "passing";
      this.#isSent = true;
      return this.#forward(held);
    }
    // Through the response, so that what patched `writeHead` since hears of it.
    response.writeHead(response.statusCode);
    this.#state = "held";
    this.#captured = new CapturedResponse(
      {
        status: response.statusCode,
        // HTTP/2 has none, and warns of it.
        statusText: response.req.httpVersionMajor === 2 ? "" : (response.statusMessage ?? ""),
        headers: messageHeaders({
          read: (name) => response.getHeader(name),
          write: (name, value) => void this.#functions.setHeader.call(response, name, value),
          remove: (name) => this.#functions.removeHeader.call(response, name),
          names: () => response.getHeaderNames(),
        }),
      },
      { whole: () => this.#whole(), open: () => this.#open() },
    );
    const mayWriteMore = this.#hold(held);
    waiter(this.#captured);
    return mayWriteMore;
  }

  #hold(held: HeldCall): boolean {
    if (this.#held.at(-1)?.kind === "end") return false;
    this.#held.push(held);
    if (held.kind === "write") this.#heldBytes += held.chunk?.length ?? 0;
    this.#needsDrain = this.#heldBytes > maxHeldBytes;
    return !this.#needsDrain;
  }

  #pass(): void {
    this.#state = "passing";
    this.#isSent = true;
    const held = this.#held;
    this.#held = [];
    let mayWriteMore = true;
    for (const call of held) mayWriteMore = this.#forward(call);
    if (this.#needsDrain && mayWriteMore) {
      const { response } = this.#exchange;
      process.nextTick(() => response.emit("drain"));
    }
  }

  #forward({ kind, chunk, encoding, callback }: HeldCall): boolean {
    const exchange = this.#exchange;
    const { response } = exchange;
    const { write, flushHeaders } = this.#functions;
    if (kind === "flush") {
      flushHeaders.call(response);
      return true;
    }
    if (exchange.isWatched && chunk !== undefined && hasBody(response)) {
      exchange.bytes += byteLengthOf(chunk, encoding);
    }
    if (kind === "write")
      return Reflect.apply(write, response, [chunk, encoding, callback]) === true;
    this.#endNow([chunk, encoding, callback]);
    return true;
  }

  /** The body when the framework gave it in one piece. */
  #whole(): string | Uint8Array<ArrayBuffer> | null | undefined {
    const held = this.#held.filter(({ kind }) => kind !== "flush");
    const [first] = held;
    if (first?.kind !== "end") return undefined;
    const { chunk, encoding, callback } = first;
    if (callback !== undefined) this.#exchange.response.once("finish", () => callback());
    if (chunk === undefined || !hasBody(this.#exchange.response)) return null;
    if (typeof chunk === "string" && isUtf8(encoding)) return chunk;
    return toBytes(chunk, encoding);
  }

  #open(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const { response } = this.#exchange;
    const held = this.#held;
    this.#held = [];
    if (!hasBody(response)) {
      this.#state = "replaced";
      for (const { callback } of held) if (callback !== undefined) queueMicrotask(callback);
      return null;
    }
    this.#state = "streaming";
    const stream = new ReadableStream<Uint8Array<ArrayBuffer>>(
      {
        start: (controller) => {
          this.#controller = controller;
          for (const call of held) this.#enqueue(call);
        },
        pull: () => {
          if (!this.#needsDrain) return;
          this.#needsDrain = false;
          response.emit("drain");
        },
        cancel: () => {
          this.#state = "replaced";
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxHeldBytes }),
    );
    // The framework will write no more when its client has gone.
    response.once("close", () => {
      if (this.#state === "streaming") this.#controller?.error(new Error("the client has gone"));
    });
    return stream;
  }

  #enqueue({ kind, chunk, encoding, callback }: HeldCall): boolean {
    const controller = this.#controller;
    if (controller === undefined || kind === "flush") return true;
    if (chunk !== undefined) {
      const bytes = toBytes(chunk, encoding);
      if (bytes.byteLength > 0) controller.enqueue(bytes);
    }
    if (kind === "end") {
      this.#state = "replaced";
      controller.close();
      if (callback !== undefined) this.#exchange.response.once("finish", () => callback());
      return true;
    }
    if (callback !== undefined) queueMicrotask(callback);
    this.#needsDrain = (controller.desiredSize ?? 0) <= 0;
    return !this.#needsDrain;
  }

  /** Drops what the framework writes, unless a middleware reads it. */
  #replace(): void {
    if (this.#state === "open" || this.#state === "held") this.#state = "replaced";
  }
}

/** Headers that describe a body. */
const contentHeaders = ["content-encoding", "content-length", "content-type", "etag"];

/** The capture of a response, unless the response was patched since. */
export function findCapture(response: ServerResponse): ResponseCapture | undefined {
  const capture = writerOf(response);
  return capture instanceof ResponseCapture && capture.isInPlace ? capture : undefined;
}
