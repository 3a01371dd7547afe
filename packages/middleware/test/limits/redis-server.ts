import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "../../../../test/free-port.ts";

/** A Redis server of a test's own, and a client of it in the shape of node-redis. */
export interface TestRedis extends AsyncDisposable {
  readonly client: TestRedisClient;
  readonly port: number;
}

export interface TestRedisClient {
  sendCommand(args: readonly string[]): Promise<unknown>;
}

/** Why tests with a server are skipped; on CI they are not, and fail instead. */
export function redisIsMissing(): boolean {
  if (process.env["CI"] === "true") return false;
  return spawnSync("redis-server", ["--version"]).status !== 0;
}

/** Starts Debian's redis-server on a free port, with its files in a folder that goes with it. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), "redis-"));
  const port = await freePort();
  const server = spawn(
    "redis-server",
    [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--dir",
      folder,
      "--save",
      "",
      "--daemonize",
      "no",
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const exited = once(server, "exit");
  for await (const line of createInterface(server.stdout)) {
    if (line.includes("Ready to accept connections")) break;
  }
  server.stdout.resume();
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  return {
    client: respClient(socket),
    port,
    async [Symbol.asyncDispose]() {
      socket.destroy();
      server.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** As much of the protocol (RESP2) as the stores need. */
function respClient(socket: Socket): TestRedisClient {
  const waiting: PromiseWithResolvers<unknown>[] = [];
  let buffer = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("close", () => {
    for (const { reject } of waiting.splice(0)) reject(new Error("the connection is closed"));
  });
  socket.on("data", (chunk) => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      const reply = readReply(buffer, 0);
      if (reply === undefined) return;
      buffer = buffer.subarray(reply.end);
      if (reply.value instanceof Error) waiting.shift()?.reject(reply.value);
      else waiting.shift()?.resolve(reply.value);
    }
  });
  return {
    sendCommand(args) {
      if (socket.destroyed) return Promise.reject(new Error("the connection is closed"));
      const reply = Promise.withResolvers<unknown>();
      waiting.push(reply);
      const parts = args.map((arg) => `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`);
      socket.write(`*${args.length}\r\n${parts.join("")}`);
      return reply.promise;
    },
  };
}

function readReply(buffer: Buffer, start: number): { value: unknown; end: number } | undefined {
  const lineEnd = buffer.indexOf("\r\n", start);
  if (lineEnd === -1) return undefined;
  const line = buffer.toString("utf8", start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (String.fromCharCode(buffer[start] ?? 0)) {
    case "+":
      return { value: line, end };
    case "-":
      return { value: new Error(line), end };
    case ":":
      return { value: Number(line), end };
    case "$": {
      const length = Number(line);
      if (length === -1) return { value: null, end };
      if (buffer.length < end + length + 2) return undefined;
      return { value: buffer.toString("utf8", end, end + length), end: end + length + 2 };
    }
    case "*": {
      const values: unknown[] = [];
      let next = end;
      for (let index = 0; index < Number(line); index += 1) {
        const reply = readReply(buffer, next);
        if (reply === undefined) return undefined;
        values.push(reply.value);
        next = reply.end;
      }
      return { value: values, end: next };
    }
    default:
      throw new Error(`unexpected reply ${line}`);
  }
}
