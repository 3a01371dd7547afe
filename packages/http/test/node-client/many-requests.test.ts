import { fork } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

/** What the client's process reports at its end. */
interface Report {
  readonly done: number;
  readonly failed: number;
  readonly sockets: number;
  readonly listeners: number;
  /** Bytes of heap after each round of 2,500 requests. */
  readonly heap: readonly number[];
}

let port = 0;
let most = 0;
const sockets = new Set<unknown>();
const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => response.end(Buffer.concat(chunks)));
});

beforeAll(async () => {
  server.on("connection", (socket) => {
    sockets.add(socket);
    most = Math.max(most, sockets.size);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

it("the transport sends 10,000 requests over 50 connections, leaks nothing, and lets the process end", async () => {
  const script = fileURLToPath(new URL("send-many.ts", import.meta.url));
  const child = fork(script, [`http://127.0.0.1:${port}/`], {
    execArgv: ["--conditions=@fetchwork/source", "--expose-gc"],
  });
  const report = new Promise<Report>((resolve) => child.once("message", resolve as () => void));
  const code = new Promise((resolve) => child.once("exit", resolve));
  expect(await report).toMatchObject({ done: 10_000, failed: 0, listeners: 0 });
  const { heap, sockets: open } = await report;
  expect(most).toBe(50);
  expect(open).toBeLessThanOrEqual(50);
  const [first = 0, last = Infinity] = [heap[0], heap.at(-1)];
  expect(last - first).toBeLessThan(2_000_000);
  // Nothing is closed by hand: idle connections must not hold the process.
  expect(await code).toBe(0);
}, 60_000);
