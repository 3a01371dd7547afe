// Run by many-requests.test.ts in a separate process: sends 10,000 requests over 50 connections
// and reports.
import { getEventListeners } from "node:events";
import { undiciTransport } from "../../src/node/client/index.ts";
import { requestOf } from "./requests.ts";

const url = process.argv[2] ?? "";
const transport = undiciTransport({ proxy: false, connections: 50, keepAliveTimeout: 60_000 });
const { signal } = new AbortController();
const heap: number[] = [];
let done = 0;
let failed = 0;

for (let round = 0; round < 4; round += 1) {
  await Promise.all(Array.from({ length: 2_500 }, (_, index) => send(`${round}-${index}`)));
  globalThis.gc?.();
  heap.push(process.memoryUsage().heapUsed);
}
const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
const listeners = getEventListeners(signal, "abort").length;
process.send?.({ done, failed, sockets, listeners, heap }, () => process.disconnect());

async function send(text: string): Promise<void> {
  const { body } = await transport.exchange(requestOf(url, { method: "POST", body: text, signal }));
  if (new TextDecoder().decode(body) === text) done += 1;
  else failed += 1;
}
