import { openStore } from "@fetchwork/documents";
import { serve } from "@fetchwork/http/serve";
import { createWebMiddleware, type Vendor, Webhooks } from "@fetchwork/webhooks";
import { createSender } from "@fetchwork/webhooks/sender";
import { fetchwork, vendor } from "@fetchwork/webhooks/vendors";
import { expect, it } from "vitest";

const log = { warn: () => undefined, error: () => undefined };

it.each<readonly [string, Vendor]>([
  ["signs the identifier", fetchwork],
  ["signs the body only", vendor],
])("events with equal payloads are all handled with a vendor that %s", async (_, sentBy) => {
  await using store = await openStore("sqlite::memory:");
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const webhooks = new Webhooks({ secret, vendor: sentBy, replay: true, log });
  const handled: string[] = [];
  webhooks.onAny(({ id, name }) => handled.push([name, id].join(" ")));
  await using server = await serve(createWebMiddleware(webhooks, { path: "/hooks" }), {
    port: 0,
    hostname: "127.0.0.1",
    signals: false,
    gracePeriod: 0,
  });
  await using sender = createSender({ store, vendor: sentBy, allowHttp: true, allowPrivate: true });
  sender.start();
  await sender.endpoints.create({ url: new URL("/hooks", server.url).href, secret });
  const payload = { total: 12 };
  await sender.send({ id: "first", name: "order", payload });
  await sender.send({ id: "second", name: "order", payload });
  await sender.send({ id: "third", name: "refund", payload });
  await expect.poll(async () => (await sender.deliveries({ status: "delivered" })).length).toBe(3);
  expect(handled.toSorted()).toEqual(["order first", "order second", "refund third"]);

  const [delivered] = await sender.deliveries({ eventId: "first" });
  await sender.replay(delivered?.id ?? "");
  await expect
    .poll(async () => (await sender.deliveries({ eventId: "first" }))[0]?.history.length)
    .toBe(2);
  expect(handled.length).toBe(sentBy === fetchwork ? 3 : 4);
});
