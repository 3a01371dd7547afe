import type { Socket } from "node:net";
import type { NodeServer } from "./create-server.ts";
import type { PendingPromises } from "./pending-promises.ts";

/** A server on its way to a stop. */
export interface Stopping {
  /** Resolves when nothing of the server is left. */
  readonly stopped: Promise<void>;
  /** Sets another grace period, in milliseconds from now. */
  readonly cutAfter: (gracePeriod: number) => void;
}

const idleCheckInterval = 50;

/**
 * Stops a server: no new connections, idle ones closed now and as they become idle, the rest when it is done or
 * the grace period is over.
 */
export function stopServer(
  node: NodeServer,
  pending: PendingPromises,
  gracePeriod: number,
): Stopping {
  const { server, sockets, sessions } = node;
  const { promise: cutPromise, resolve: resolveCut } = Promise.withResolvers<void>();
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  for (const session of sessions) session.close();
  closeIdle(node);
  const idleTimer = setInterval(() => closeIdle(node), idleCheckInterval);
  const cut = (): void => {
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
    resolveCut();
  };
  let cutTimer = setTimeout(cut, gracePeriod);
  const stopped = (async () => {
    await Promise.race([closed.then(() => pending.drain()), cutPromise]);
    await closed;
    // Node calls back before the last connections have told their exchanges.
    await Promise.all([...sockets].map(closeOf));
    clearInterval(idleTimer);
    clearTimeout(cutTimer);
  })();
  return {
    stopped,
    cutAfter: (period) => {
      clearTimeout(cutTimer);
      cutTimer = setTimeout(cut, period);
    },
  };
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

function closeIdle({ server, sockets }: NodeServer): void {
  // HTTP/2's server has no such method; its sessions were told to close.
  if (typeof server.closeIdleConnections === "function") server.closeIdleConnections();
  for (const socket of sockets) {
    // Opened in advance, and never used; Node does not count it as idle.
    if (socket.bytesRead === 0) socket.destroy();
  }
}
