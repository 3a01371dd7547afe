import { Agent, createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createNodeMiddleware, Webhooks } from "../src/index.ts";
import { delivery } from "./receivers.ts";

it(
  "A receiver handles or reports each of 10,000 deliveries on 50 connections once",
  { timeout: 120_000 },
  async () => {
    const quiet = { warn: () => undefined, error: () => undefined };
    const webhooks = new Webhooks({ secret: "s", log: quiet, replay: true });
    const calls = new Map<string, number>();
    const reports = new Map<string, number>();
    const count = (map: Map<string, number>, id = ""): unknown =>
      map.set(id, (map.get(id) ?? 0) + 1);
    // Fails for some, in ways that a number tells, so that each run is the same.
    webhooks.on("push", async ({ id }) => {
      count(calls, id);
      const number = Number(id);
      if (number % 7 === 0) throw new Error("at once");
      if (number % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      // oxlint-disable-next-line typescript/only-throw-error -- what a handler may do
      if (number % 11 === 0) throw undefined;
    });
    webhooks.onError(({ event }) => count(reports, event?.id));
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown): unknown => rejections.push(reason);
    process.on("unhandledRejection", onRejection);
    const middleware = createNodeMiddleware(webhooks);
    const server = createServer((request, response) => void middleware(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true, maxSockets: 50 });
    const amount = 10_000;

    const deliver = async (id: string): Promise<number> => {
      const init = await delivery(webhooks, JSON.stringify({ id }), {
        "x-vendor-delivery": id,
        "x-vendor-event": "push",
      });
      const headers = init.headers as Record<string, string>;
      const options = { agent, port, method: "POST", path: "/api/vendor/webhooks", headers };
      return new Promise((resolve, reject) => {
        const request = send(options, (response) => {
          response.resume().on("end", () => resolve(response.statusCode ?? 0));
        });
        request.on("error", reject).end(init.body);
      });
    };
    const statuses: number[] = [];
    let next = 0;
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        while (next < amount) {
          const id = next;
          next += 1;
          statuses[id] = await deliver(String(id));
        }
      }),
    );
    agent.destroy();
    await new Promise((resolve) => server.close(resolve));
    process.off("unhandledRejection", onRejection);

    const fails = (id: number): boolean => id % 7 === 0 || id % 11 === 0;
    expect(statuses.filter((status, id) => status !== (fails(id) ? 500 : 200))).toEqual([]);
    expect([calls.size, [...calls.values()].every((times) => times === 1)]).toEqual([amount, true]);
    const failed = statuses.filter((_, id) => fails(id)).length;
    expect([reports.size, [...reports.values()].every((times) => times === 1)]).toEqual([
      failed,
      true,
    ]);
    expect(rejections).toEqual([]);
  },
);
