import type { FetchHandler, Listener, Platform } from "./platform.ts";

/** `Bun`, as far as it is used here. */
interface BunGlobal {
  serve(options: { port: number; hostname: string; fetch: FetchHandler }): {
    readonly port: number;
    stop(closeConnections?: boolean): Promise<void>;
  };
}

/** `Deno`, as far as it is used here. */
interface DenoGlobal {
  serve(
    options: { port: number; hostname: string; onListen: () => void },
    handler: FetchHandler,
  ): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
}

const hostname = "127.0.0.1";

/** The platform of a program that is a process: on Node, Bun and Deno. */
export function processPlatform(peer: string): Platform {
  const { Bun, Deno } = globalThis as { readonly Bun?: BunGlobal; readonly Deno?: DenoGlobal };
  const program = process.execPath;
  if (Bun !== undefined) {
    return { name: "bun", peer, command: [program], listen: (handler) => onBun(Bun, handler) };
  }
  if (Deno !== undefined) {
    const command = [program, "run", "--allow-all"];
    return { name: "deno", peer, command, listen: (handler) => onDeno(Deno, handler) };
  }
  return { name: "node", peer, command: [program], listen: onNode };
}

function onBun(bun: BunGlobal, fetch: FetchHandler): Listener {
  const server = bun.serve({ port: 0, hostname, fetch });
  return { origin: `http://${hostname}:${server.port}`, close: () => server.stop(true) };
}

function onDeno(deno: DenoGlobal, handler: FetchHandler): Listener {
  const server = deno.serve({ port: 0, hostname, onListen: () => {} }, handler);
  return { origin: `http://${hostname}:${server.addr.port}`, close: () => server.shutdown() };
}

/** Node has no server of this shape; ours is it. */
async function onNode(handler: FetchHandler): Promise<Listener> {
  const { serve } = await import("@fetchwork/http/serve");
  const server = await serve(handler, { port: 0, hostname, signals: false });
  return {
    origin: `http://${hostname}:${server.port}`,
    close: () => server.close({ gracePeriod: 0 }),
  };
}
