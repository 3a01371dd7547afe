import { constants, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";

/** Progress of a client that has bytes to read. */
interface Progress {
  readonly taken: number;
  /** How often it was looked at since it last took something. */
  readonly looks: number;
}

/**
 * Destroys connections whose client takes nothing of what is queued for it; otherwise a client that
 * does not read keeps its responses in memory forever. Returns a function that ends the watch.
 *
 * It looks at all connections now and then, so that a response costs nothing. Bytes that the client
 * sends do not count as progress. While nothing is queued for a connection it does not wait,
 * however long its handler takes. The time is counted in looks, so that a delay of the event loop
 * does not count as the client's.
 */
export function watchStalledConnections(
  sockets: ReadonlySet<Socket>,
  responseTimeout: number,
): () => void {
  const stalled = new WeakMap<Socket, Progress>();
  const interval = Math.max(20, Math.min(1000, responseTimeout / 4));
  const maxLooks = Math.ceil(responseTimeout / interval);
  const look = (): void => {
    for (const socket of sockets) {
      const { queued, taken } = readOutput(socket);
      const last = stalled.get(socket);
      if (queued === 0) {
        if (last !== undefined) stalled.delete(socket);
      } else if (last?.taken !== taken) {
        stalled.set(socket, { taken, looks: 0 });
      } else if (last.looks + 1 >= maxLooks) {
        socket.destroy();
      } else {
        stalled.set(socket, { taken, looks: last.looks + 1 });
      }
    }
  };
  const timer = setInterval(look, interval);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Reads how many bytes of a connection the system has taken, and how many are queued. A socket's
 * public counters see one large write as a whole, and nothing of what TLS writes through it. Its
 * handle, which Node's own socket timeouts use too, counts every byte.
 */
function readOutput(socket: Socket): { readonly queued: number; readonly taken: number } {
  const handle: unknown = "_handle" in socket ? socket._handle : undefined;
  const queued = numberOf(handle, "writeQueueSize");
  return { queued, taken: numberOf(handle, "bytesWritten") - queued };
}

function numberOf(handle: unknown, name: string): number {
  if (typeof handle !== "object" || handle === null) return 0;
  const value: unknown = Reflect.get(handle, name);
  return typeof value === "number" ? value : 0;
}

/**
 * Closes a stream of HTTP/2 whose request or response takes too long. Node's request timeout does
 * not cover HTTP/2, and a client may stop one stream while the connection goes on. Times are in
 * milliseconds; 0 means unlimited.
 */
export function limitStreamTime(
  stream: ServerHttp2Stream,
  {
    requestTimeout,
    responseTimeout,
  }: { readonly requestTimeout: number; readonly responseTimeout: number },
): void {
  if (requestTimeout > 0 && !stream.endAfterHeaders) {
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), requestTimeout);
    timer.unref();
    const stop = (): void => clearTimeout(timer);
    stream.once("end", stop);
    stream.once("close", stop);
  }
  if (responseTimeout > 0) {
    stream.setTimeout(responseTimeout, () => {
      if (stream.writableLength > 0) stream.close(constants.NGHTTP2_CANCEL);
      else if (!stream.destroyed) stream.setTimeout(responseTimeout);
    });
  }
}
