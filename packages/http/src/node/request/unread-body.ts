import { IncomingMessage } from "node:http";
import { constants, type Http2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { lingerAndClose } from "./linger.ts";

/**
 * A message whose body can be cancelled without losing the connection.
 *
 * `request.body.cancel()` ends in `destroy()`. Node's own `destroy()` closes the connection, and
 * with it the response: a 413 would reach nobody. This one discards the rest of the body instead;
 * {@link limitUnreadBody} keeps that short.
 */
export class CancellableMessage extends IncomingMessage {
  readonly #connection: Socket;

  /** Bun passes more than a socket, and needs all of it. */
  constructor(...parameters: ConstructorParameters<typeof IncomingMessage>) {
    super(...parameters);
    this.#connection = this.socket;
  }

  override destroy(error?: Error): this {
    if (this.complete || this.#connection.destroyed || isReset(error)) return super.destroy(error);
    // `Readable.toWeb` removes the socket before it destroys.
    this.socket ??= this.#connection;
    discardBody(this);
    return this;
  }
}

const maxUnreadBytes = 16 * 1024 * 1024;
const maxUnreadTime = 3000;
const checkInterval = 100;

/** How many checks a reader that takes nothing may block the rest of a body. */
const maxBlockedChecks = 10;

/** Reads the rest of a body and throws it away. */
export function discardBody(body: Readable): void {
  body.removeAllListeners("data");
  body.resume();
}

/** Returns whether a body is announced to be more than what {@link limitUnreadBody} discards. */
export function isTooLongToDiscard({ headers }: IncomingMessage): boolean {
  return Number(headers["content-length"] ?? 0) > maxUnreadBytes;
}

/**
 * Closes the connection if the body's rest after the response has over 16 MiB or takes over 3
 * seconds. The next request of the connection comes after it, and without a limit it could go on
 * forever. A reader that takes nothing of what has arrived for a second loses the body, which is
 * then discarded.
 */
export function limitUnreadBody(request: IncomingMessage): void {
  const { socket } = request;
  if (request.complete || socket === null || socket.destroyed) return;
  const end = performance.now() + maxUnreadTime;
  const lastByte = socket.bytesRead + maxUnreadBytes;
  let last = socket.bytesRead;
  let blockedChecks = 0;
  const timer = setInterval(() => {
    if (request.complete || socket.destroyed) {
      clearInterval(timer);
      return;
    }
    if (performance.now() > end || socket.bytesRead > lastByte) {
      clearInterval(timer);
      lingerAndClose(socket);
      return;
    }
    const isBlocked = request.readableLength > 0 && socket.bytesRead === last;
    last = socket.bytesRead;
    blockedChecks = isBlocked ? blockedChecks + 1 : 0;
    if (blockedChecks === maxBlockedChecks) takeBody(request);
  }, checkInterval);
  timer.unref();
}

/** Discards a partly read body, whose reader must not take the part for the whole. */
function takeBody(request: IncomingMessage): void {
  // Not by `destroy()`, which would also end the response and the connection.
  if (request.listenerCount("error") > 0) {
    request.emit("error", new DOMException("The response was sent before.", "AbortError"));
  }
  discardBody(request);
}

/**
 * Closes a stream of HTTP/2 when the client has the whole response. So it stops sending a body that
 * nobody reads (RFC 9113, 8.1). A reader of the body has 3 seconds.
 */
export function closeUnreadStream(request: IncomingMessage, stream: Http2Stream): void {
  const end = performance.now() + maxUnreadTime;
  const timer = setInterval(() => {
    if (request.complete || stream.destroyed) {
      clearInterval(timer);
      return;
    }
    // The end of a response may have to wait until the client has room for it.
    const isSent = stream.closed || stream.state.localClose === 1;
    if (!isSent || (isBeingRead(request) && performance.now() < end)) return;
    clearInterval(timer);
    // Its reader must not take a part of the body for the whole.
    request.destroy();
    stream.close(constants.NGHTTP2_NO_ERROR);
    // A stream with unread data stays open.
    discardBody(stream);
  }, checkInterval);
  timer.unref();
}

function isBeingRead(request: IncomingMessage): boolean {
  if (request.destroyed) return false;
  return request.listenerCount("data") > 0 || request.listenerCount("readable") > 0;
}

/** @param error - What a body was cancelled with: anything. */
function isReset(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ECONNRESET";
}
