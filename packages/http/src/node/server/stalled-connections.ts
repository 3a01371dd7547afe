import type { Socket } from "node:net";

interface Progress {
  readonly taken: number;
  readonly since: number;
}

/**
 * Destroys connections whose client takes nothing of what is queued for it: without this a client that does not
 * read keeps its answers in memory forever. Gives a function that ends the watch.
 *
 * One look at all connections now and then, so that an answer costs nothing. What the client sends does not count
 * as progress, nor does a connection wait while nothing is queued for it, however long its handler takes.
 */
export function watchStalledConnections(
  sockets: ReadonlySet<Socket>,
  responseTimeout: number,
): () => void {
  const stalled = new WeakMap<Socket, Progress>();
  const look = (): void => {
    const now = performance.now();
    for (const socket of sockets) {
      const { queued, taken } = readOutput(socket);
      const last = stalled.get(socket);
      if (queued === 0) {
        if (last !== undefined) stalled.delete(socket);
      } else if (last?.taken !== taken) {
        stalled.set(socket, { taken, since: now });
      } else if (now - last.since >= responseTimeout) {
        socket.destroy();
      }
    }
  };
  const timer = setInterval(look, Math.max(20, Math.min(1000, responseTimeout / 4)));
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * What the system has not taken of a connection's bytes, and how many it has. A socket's public counters see one
 * large write as a whole, and nothing of what TLS writes through it; its handle, which Node's own socket timeouts
 * look at too, counts every byte.
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
