import type { Socket } from "node:net";
import type { NodeServer } from "./create-server.ts";
import type { PendingPromises } from "./pending-promises.ts";

/** A server that is stopping. */
export interface Stopping {
  /** Resolves when all connections and promises have ended. */
  readonly stopped: Promise<void>;
  /** Sets another grace period, in milliseconds from now. */
  readonly cutAfter: (gracePeriod: number) => void;
}

const idleCheckInterval = 50;

/** Time in milliseconds that a new connection has for its first bytes, which may be on their way when the server stops. */
const firstBytesTime = 500;

/**
 * Stops a server: it accepts no new connections and closes each connection as soon as it is idle and everything that it
 * received is read, or when the grace period is over.
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
    // Not earlier: a connection counts as idle until the request that it received is read.
    closeIdle(node);
    const done = new Promise<void>((resolve) => void server.close(() => resolve()));
    if (isCut) cut(); // For connections that were accepted since.
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
    // Node calls back before the last connections have emitted "close".
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

/** Turns of the event loop without a new connection after which no more are expected. */
const quietTurns = 3;

/** Maximum time in milliseconds to wait for such turns, so that clients that never pause do not delay the stop. */
const acceptTime = 500;

/**
 * Accepts the connections that the system has established already, and reads what they received. Node accepts one
 * connection in each turn of the event loop. When the server stops listening, the system resets all others, whose clients
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
  // The server of HTTP/2 has no such method; its sessions are closing already.
  if (typeof server.closeIdleConnections === "function") server.closeIdleConnections();
}

/** Closes connections that were opened in advance and never used, which Node does not count as idle. */
function closeUnused({ sockets, tlsSockets }: NodeServer): void {
  for (const socket of [...sockets, ...tlsSockets]) {
    if (socket.bytesRead === 0) socket.destroy();
  }
}
