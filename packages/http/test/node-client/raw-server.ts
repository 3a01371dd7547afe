import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A TCP server that a test scripts; every connection is kept to be ended. */
export interface RawServer {
  readonly url: string;
  readonly port: number;
  /** Connections in the order in which they came. */
  readonly sockets: readonly Socket[];
  /** Everything that each connection received. */
  readonly received: readonly string[];
  close(): Promise<void>;
}

/**
 * Starts a server that calls `onRequest` for each head (and what of a body came with it) that
 * arrives.
 */
export async function startRaw(
  onRequest: (socket: Socket, head: string, connection: number) => void,
  onConnection?: (socket: Socket) => void,
): Promise<RawServer> {
  const sockets: Socket[] = [];
  const received: string[] = [];
  const server: Server = createServer({ noDelay: true }, (socket) => {
    const connection = sockets.push(socket) - 1;
    received.push("");
    socket.on("error", () => undefined);
    onConnection?.(socket);
    let pending = "";
    socket.on("data", (chunk: Buffer) => {
      const text = chunk.toString("latin1");
      received[connection] = (received[connection] ?? "") + text;
      pending += text;
      if (!pending.includes("\r\n\r\n")) return;
      const head = pending;
      pending = "";
      onRequest(socket, head, connection);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    sockets,
    received,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Waits until a connection is closed by the other side or by an error. */
export function closed(socket: Socket | undefined): Promise<void> {
  if (socket === undefined) return Promise.reject(new Error("no such connection"));
  if (socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => socket.once("close", () => resolve()));
}
