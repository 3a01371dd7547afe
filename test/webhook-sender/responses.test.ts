import { gzipSync } from "node:zlib";
import { openStore, type Store } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
import { type AttemptReport, createSender, type Sender } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startReceiver } from "./receiver.ts";

let store: Store;
let sender: Sender;
let reports: AttemptReport[];

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
  reports = [];
  sender = createSender({
    store,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
    retry: { firstDelay: 10, factor: 1, jitter: 0 },
    onAttempt: (report) => reports.push(report),
  });
  sender.start();
});

afterEach(async () => {
  await sender.stop({ grace: 0 });
  await store.close();
});

/** Waits for so many tries. */
async function tries(count: number): Promise<readonly AttemptReport[]> {
  await expect.poll(() => reports.length, { interval: 5 }).toBeGreaterThanOrEqual(count);
  return reports;
}

describe("a delivery", () => {
  it.each([
    ["a body that announces more than 16 KiB", 200, { "content-length": "1000000" }],
    ["a chunked body of more than 16 KiB", 200, {}],
    ["a compressed body of more than 16 KiB", 200, { "content-encoding": "gzip" }],
    ["a body that is not what its coding says", 200, { "content-encoding": "br" }],
  ])("has the status of a response with %s", async (_, status, headers) => {
    const page = Buffer.alloc(1_000_000, "x");
    const body = "content-encoding" in headers ? gzipSync(page) : page;
    await using receiver = await startReceiver((_delivery, response) => {
      response.writeHead(status, headers).end(body);
    });
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    const [report] = await tries(1);
    expect(report).toMatchObject({ outcome: "delivered", attempt: { status: 200 } });
    expect(receiver.arrived.length).toBe(1);
  });

  it("is given up after a 410 response of any size", async () => {
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(410, { "content-length": "20000" }).end(Buffer.alloc(20_000));
    });
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    expect((await tries(1))[0]).toMatchObject({ outcome: "dead", deadReason: "gone" });
  });

  it("cancels a response that is too large", async () => {
    const closed = Promise.withResolvers<void>();
    await using receiver = await startReceiver((_, response) => {
      response.writeHead(200);
      const write = (): void => {
        if (!response.destroyed) response.write(Buffer.alloc(65_536), write);
      };
      response.on("close", closed.resolve);
      write();
    });
    await sender.endpoints.create({ url: receiver.url });
    await sender.send({ name: "a", payload: {} });
    expect((await tries(1))[0]).toMatchObject({ outcome: "delivered" });
    await closed.promise;
  });

  it("does not disable an endpoint because its handler called another server that responded with 410", async () => {
    const secret = "a secret of the test";
    const log = { warn: () => undefined, error: () => undefined };
    const webhooks = new Webhooks({ secret, vendor: fetchwork, log });
    let calls = 0;
    webhooks.onAny(() => {
      calls += 1;
      if (calls === 1) throw Object.assign(new Error("db password hunter2"), { status: 410 });
    });
    const options = { port: 0, hostname: "127.0.0.1", signals: false, gracePeriod: 0 };
    await using server = await serve(createWebMiddleware(webhooks, { path: "/hooks" }), options);
    const url = new URL("/hooks", server.url).href;
    const { id } = await sender.endpoints.create({ url, secret });
    await sender.send({ name: "a", payload: {} });
    const [first, second] = await tries(2);
    expect(first).toMatchObject({ outcome: "retry", attempt: { status: 500 } });
    expect(second).toMatchObject({ outcome: "delivered" });
    expect(await sender.endpoints.get(id)).toMatchObject({ status: "enabled" });
  });
});
