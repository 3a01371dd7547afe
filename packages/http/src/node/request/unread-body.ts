import { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/**
 * A request whose body can be given up without giving up the connection.
 *
 * `request.body.cancel()` ends in `destroy()`. Node's own then loses the socket, and with it the answer: a 413
 * would reach nobody. This one discards the rest of the body; {@link boundUnreadBody} sees to it that the rest is
 * not endless.
 */
export class KeptMessage extends IncomingMessage {
  readonly #connection: Socket;

  /** Bun gives more than a socket, and each of it is needed there. */
  constructor(...parameters: ConstructorParameters<typeof IncomingMessage>) {
    super(...parameters);
    this.#connection = this.socket;
  }

  override destroy(error?: Error): this {
    if (this.complete || this.#connection.destroyed || isReset(error)) return super.destroy(error);
    // Node's stream bridge takes the socket away before it destroys.
    this.socket ??= this.#connection;
    discardBody(this);
    return this;
  }
}

const maxDrainBytes = 16 * 1024 * 1024;
const maxDrainTime = 3000;
const drainCheckInterval = 100;

/** Reads the rest of a body and throws it away. */
export function discardBody(request: IncomingMessage): void {
  request.removeAllListeners("data");
  request.resume();
}

/**
 * Closes the connection when, after the response, the rest of the request's body is more than 16 MiB or takes more
 * than 3 seconds: until it has passed there can be no next request, and without a limit it could go on forever.
 */
export function boundUnreadBody(request: IncomingMessage): void {
  const { socket } = request;
  if (request.complete || socket === null || socket.destroyed) return;
  const end = performance.now() + maxDrainTime;
  const lastByte = socket.bytesRead + maxDrainBytes;
  const timer = setInterval(() => {
    if (request.complete || socket.destroyed) {
      clearInterval(timer);
    } else if (performance.now() > end || socket.bytesRead > lastByte) {
      clearInterval(timer);
      socket.destroy();
    }
  }, drainCheckInterval);
  timer.unref();
}

function isReset(error: Error | undefined): boolean {
  return error !== undefined && "code" in error && error.code === "ECONNRESET";
}
