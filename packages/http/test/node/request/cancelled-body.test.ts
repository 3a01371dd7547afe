import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { text, type Handler } from "../../../src/index.ts";
import { nodeMessages, serve, toNodeListener } from "../../../src/node/index.ts";

// What Node throws in an event of the request fails the run of the tests.

/** Cancels a body that has arrived whole after it was asked for, and before it comes. */
const cancelAtOnce: Handler = async (request, context) => {
  const message = nodeMessages(context)?.request;
  while (message?.complete === false) await new Promise((resolve) => setImmediate(resolve));
  const reader = request.body?.getReader();
  const read = reader?.read();
  // The stream asks the message in a microtask, and the message sends its data after all of them.
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  await reader?.cancel();
  return text(`done: ${(await read)?.done}`);
};

async function post(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body: "a body" });
  return response.text();
}

it("serve() ignores data that arrives after a body was cancelled", async () => {
  await using server = await serve(cancelAtOnce, {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  expect(await post(server.port)).toBe("done: true");
});

it("toNodeListener() ignores data that arrives after a body was cancelled", async () => {
  await using server = createServer(toNodeListener(cancelAtOnce)).listen(0, "127.0.0.1");
  await once(server, "listening");
  expect(await post((server.address() as AddressInfo).port)).toBe("done: true");
});
