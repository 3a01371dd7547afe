import { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** Time in milliseconds in which a client can still send after the server has closed its side. */
const lingerTime = 3000;

/** Bytes that a client can still send after the server has closed its side. */
const lingerBytes = 16 * 1024 * 1024;

/** Connections that are closing. */
const lingering = new WeakSet<Socket>();

/**
 * Closes a connection in stages (RFC 9112, section 9.6): sends what is written and closes the
 * server's side. Further bytes of the client are discarded until it closes its side, for at most 3
 * seconds and 16 MiB.
 *
 * The system resets a connection that is closed with unread bytes. A reset erases what the client
 * has received and not read yet: it would not see the response that explains the end.
 */
export function lingerAndClose(socket: Socket): void {
  if (lingering.has(socket) || socket.destroyed) return;
  lingering.add(socket);
  const lastByte = socket.bytesRead + lingerBytes;
  // Takes the connection from Node's parser: it handles no more requests, and does not fail when
  // one breaks off.
  socket.removeAllListeners("data");
  socket.removeAllListeners("end");
  socket.on("data", () => {
    if (socket.bytesRead > lastByte) socket.destroy();
  });
  socket.end(() => {
    const timer = setTimeout(() => socket.destroy(), lingerTime);
    socket.once("close", () => clearTimeout(timer));
  });
  socket.resume();
  // The parser may have stopped the reading by itself, which the stream does not know.
  socket._read(0);
}

/**
 * Closes a connection after its last response as {@link lingerAndClose} does. Node would destroy it
 * while its client is still sending.
 */
export function lingerAfterResponse(socket: Duplex | null): void {
  // Node calls this method after the response that ends a connection.
  if (socket instanceof Socket) socket.destroySoon = () => lingerAndClose(socket);
}
