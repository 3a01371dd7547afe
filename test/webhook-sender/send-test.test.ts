import { openStore, type Store } from "@fetchwork/documents";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Receiver, startReceiver } from "./receiver.ts";

let store: Store;
let receiver: Receiver;
let sender: Sender;

const isPositive = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) =>
      (value as { readonly total: number }).total > 0
        ? { value }
        : { issues: [{ message: "too small", path: ["total"] }] },
  },
} as const;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
  receiver = await startReceiver();
  const eventTypes = {
    "order.paid": { example: { action: "paid", total: 12 } },
    "order.lost": {},
    "order.odd": { schema: isPositive, example: { total: -1 } },
  };
  sender = createSender({ store, eventTypes, allowHttp: true, allowPrivate: true });
});

afterEach(async () => {
  await sender.stop({ grace: 0 });
  await receiver[Symbol.asyncDispose]();
  await store.close();
});

it.each([
  ["order.refunded", "ERR_WEBHOOKS_EVENT_NAME"],
  ["__proto__", "ERR_WEBHOOKS_EVENT_NAME"],
  ["order.lost", "ERR_WEBHOOKS_ARGUMENT"],
  ["order.odd", "ERR_WEBHOOKS_ARGUMENT"],
])("sendTest() refuses the event type %s", async (type, code) => {
  const { id } = await sender.endpoints.create({ url: receiver.url });
  await expect(sender.sendTest(id, type)).rejects.toMatchObject({ code });
  expect(await sender.deliveries()).toEqual([]);
});

it("sendTest() resolves to undefined for an endpoint that does not exist", async () => {
  expect(await sender.sendTest("missing", "order.paid")).toBeUndefined();
});

it("sendTest() sends the example to one endpoint only, whatever it is subscribed to", async () => {
  const { endpoints } = sender;
  const events = ["order.lost"];
  const { id } = await endpoints.create({ url: `${receiver.url}/one`, tenant: "a", events });
  await endpoints.create({ url: `${receiver.url}/two`, tenant: "a" });
  sender.start();
  const sent = await sender.sendTest(id, "order.paid");
  expect(sent).toMatchObject({ endpointId: id, eventName: "order", status: "pending" });
  await expect
    .poll(async () => (await sender.deliveries()).map(({ status }) => status))
    .toEqual(["delivered"]);
  expect(receiver.arrived.map(({ path }) => path)).toEqual(["/hooks/one"]);
});
