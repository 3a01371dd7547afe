import { constants, type Http2Session } from "node:http2";
import { Server as NetServer, type Socket } from "node:net";
import type { NodeRuntime } from "../exchange/node-exchange.ts";
import type { NodeServer } from "./create-server.ts";

/** A server that is stopping. */
export interface Stopping {
  /** Resolves when all connections and promises have ended. */
  readonly stopped: Promise<void>;
  /** Sets another grace period, in milliseconds from now. */
  readonly cutAfter: (gracePeriod: number) => void;
}

const idleCheckInterval = 50;

/** Milliseconds that an idle connection stays open: its first or next request may be on its way. */
const lingerTime = 400;

/**
 * Stops a server: it accepts no new connections. It closes each one after its next response, when
 * idle for 400 ms, or when the grace period is over.
 */
export function stopServer(node: NodeServer, runtime: NodeRuntime, gracePeriod: number): Stopping {
  const { sockets, sessions } = node;
  const { promise: cutPromise, resolve: resolveCut } = Promise.withResolvers<void>();
  let isCut = false;
  let lingerTimer: NodeJS.Timeout | undefined;
  const closed = acceptWaiting(node).then(() => {
    const done = stopListening(node);
    // Responses say `Connection: close` from now on, not earlier: their clients would connect again,
    // and the system resets what it has not passed on when the listening ends.
    runtime.isClosing = true;
    for (const session of sessions) announceEnd(session);
    // A timer comes before what was received is read, so it may find a connection idle that is not.
    const closeSoon = (): void => void setImmediate(closeIdle, node);
    lingerTimer = setTimeout(() => {
      closeSoon();
      lingerTimer = setInterval(closeSoon, idleCheckInterval);
    }, lingerTime);
    if (isCut) cut(); // For connections that were accepted since.
    return done;
  });
  const cut = (): void => {
    isCut = true;
    for (const session of sessions) session.destroy();
    for (const socket of sockets) socket.destroy();
    resolveCut();
  };
  let cutTimer = setTimeout(cut, gracePeriod);
  const stopped = (async () => {
    await Promise.race([closed.then(() => runtime.pending.drain()), cutPromise]);
    await closed;
    // Node calls back before the last connections have emitted "close".
    await Promise.all([...sockets].map(closeOf));
    clearInterval(lingerTimer);
    // Ends the checks of Node's own server.
    node.server.close();
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

/** Maximum connections waiting to be accepted: Node's `backlog`. Later ones are ignored. */
const maxWaiting = 511;

/** Maximum time in milliseconds to accept them. */
const acceptTime = 2_000;

/**
 * Accepts the connections that the system has established already, and reads what they received.
 * Node accepts one connection in each turn of the event loop. When the server stops listening, the
 * system resets all others, whose clients may have sent a request.
 */
async function acceptWaiting({ server }: NodeServer): Promise<void> {
  let turns = 0;
  let accepted = 0;
  const count = (): void => {
    turns = 0;
    accepted += 1;
  };
  server.on("connection", count);
  const end = performance.now() + acceptTime;
  const isOver = (): boolean =>
    turns >= quietTurns || accepted >= maxWaiting || performance.now() >= end;
  while (!isOver()) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.off("connection", count);
}

/** Ends the listening only: `close()` of Node's HTTP server destroys idle connections at once. */
function stopListening({ server }: NodeServer): Promise<void> {
  return new Promise((resolve) => {
    if (server instanceof NetServer) NetServer.prototype.close.call(server, () => resolve());
    else (server as NodeServer["server"]).close(() => resolve());
  });
}

function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => void socket.once("close", () => resolve()));
}

/** Asks a client for no more streams, but takes those on their way (RFC 9113, section 6.8). */
function announceEnd(session: Http2Session): void {
  if (!session.destroyed) session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1);
}

/** Closes what has no request: Node does not count a connection that was never used as idle. */
function closeIdle({ server, sessions, sockets, tlsSockets }: NodeServer): void {
  for (const session of sessions) session.close();
  const all = [...sockets, ...tlsSockets];
  // Node would cut a response that is written as a whole while its client is still reading it.
  const isSending = all.some(({ writableLength }) => writableLength > 0);
  // The server of HTTP/2 has no such method.
  if (!isSending && typeof server.closeIdleConnections === "function") {
    server.closeIdleConnections();
  }
  for (const socket of all) if (socket.bytesRead === 0) socket.destroy();
}
