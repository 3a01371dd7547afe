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

/** Time that the first bytes of a connection have once the server stops, in milliseconds: they may be on their way. */
const firstBytesTime = 500;

/**
 * Stops a server: no new connections, idle ones closed as soon as what has come on them is read and as they become
 * idle, the rest when it is done or the grace period is over.
 */
export function stopServer(
  node: NodeServer,
  pending: PendingPromises,
  gracePeriod: number,
): Stopping {
  const { server, sockets, sessions } = node;
  const { promise: cutPromise, resolve: resolveCut } = Promise.withResolvers<void>();
  let isCut = false;
  const closed = acceptWaiting(node).then(() => {
    // Not before: a connection counts as idle until the request that has come on it is read.
    closeIdle(node);
    const done = new Promise<void>((resolve) => void server.close(() => resolve()));
    if (isCut) cut(); // Some may have come since.
    return done;
  });
  for (const session of sessions) session.close();
  const idleTimer = setInterval(() => closeIdle(node), idleCheckInterval);
  const unusedTimer = setTimeout(() => closeUnused(node), firstBytesTime);
  const cut = (): void => {
    isCut = true;
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
    clearTimeout(unusedTimer);
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

/** Turns of the event loop without a new connection after which none is taken to be waiting. */
const quietTurns = 3;

/** Time to find such turns, in milliseconds: clients that never pause do not hold the stop up. */
const acceptTime = 500;

/**
 * Accepts the connections that the system has established already, and reads what has come. Node takes one connection in
 * each turn of the event loop, and the system resets those that are left when the server stops listening, whose clients
 * may have sent a request.
 */
async function acceptWaiting({ server }: NodeServer): Promise<void> {
  let turns = 0;
  const count = (): void => void (turns = 0);
  server.on("connection", count);
  const end = performance.now() + acceptTime;
  while (turns < quietTurns && performance.now() < end) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off("connection", count);
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

function closeIdle({ server }: NodeServer): void {
  // HTTP/2's server has no such method; its sessions were told to close.
  if (typeof server.closeIdleConnections === "function") server.closeIdleConnections();
}

/** Closes what was opened in advance and never used, which Node does not count as idle. */
function closeUnused({ sockets }: NodeServer): void {
  for (const socket of sockets) {
    if (socket.bytesRead === 0) socket.destroy();
  }
}
