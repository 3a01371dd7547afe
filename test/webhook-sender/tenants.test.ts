import { administer, openStore, type Store } from "@fetchwork/documents";
import { createSender, type Sender, senderCollections } from "@fetchwork/webhooks/sender";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Receiver, startReceiver } from "./receiver.ts";

let store: Store;
let receiver: Receiver;
let sender: Sender;

beforeEach(async () => {
  store = await openStore("sqlite::memory:");
  receiver = await startReceiver();
  sender = createSender({ store, allowHttp: true, allowPrivate: true });
});

afterEach(async () => {
  await sender.stop({ grace: 0 });
  await receiver[Symbol.asyncDispose]();
  await store.close();
});

const refused = { code: "ERR_WEBHOOKS_ARGUMENT" };

it.each(["", "a b", "a/b", "é", "a".repeat(65), 5, null, {}])(
  "a sender refuses the tenant %j",
  async (tenant) => {
    const given = { tenant } as never as { readonly tenant: string };
    const event = { name: "order", payload: {}, ...given };
    await expect(sender.send(event)).rejects.toMatchObject(refused);
    const url = receiver.url;
    const invalid = { code: "ERR_WEBHOOKS_OPTION" };
    await expect(sender.endpoints.create({ url, ...given })).rejects.toMatchObject(invalid);
    await expect(sender.endpoints.list(given)).rejects.toMatchObject(invalid);
    await expect(sender.endpoints.count(given)).rejects.toMatchObject(invalid);
  },
);

it("an endpoint gets the events of its tenant only, also when it takes all events", async () => {
  const { endpoints } = sender;
  const urls = ["/a", "/b", "/none"].map((path) => receiver.url + path);
  await endpoints.create({ url: urls[0] ?? "", tenant: "a" });
  await endpoints.create({ url: urls[1] ?? "", tenant: "b", events: ["order.*"] });
  await endpoints.create({ url: urls[2] ?? "" });
  sender.start();
  await sender.send({ name: "order", payload: { action: "paid" }, tenant: "a" });
  await sender.send({ name: "order", payload: { action: "paid" }, tenant: "b" });
  await sender.send({ name: "order", payload: { action: "paid" } });
  await receiver.until(3);
  await expect.poll(async () => (await sender.deliveries({ status: "delivered" })).length).toBe(3);
  expect(receiver.arrived.map(({ path }) => path).toSorted()).toEqual([
    "/hooks/a",
    "/hooks/b",
    "/hooks/none",
  ]);
});

it("the tenant of an endpoint stays, and selects endpoints", async () => {
  const { endpoints } = sender;
  const { id } = await endpoints.create({ url: receiver.url, tenant: "a", events: ["x"] });
  await endpoints.create({ url: receiver.url, tenant: "b" });
  const change = { tenant: "b" } as never;
  await expect(endpoints.update(id, change)).rejects.toMatchObject({ code: "ERR_WEBHOOKS_OPTION" });
  expect(await endpoints.update(id, { events: null })).toMatchObject({ tenant: "a" });
  expect(await endpoints.list({ tenant: "a" })).toMatchObject([{ id }]);
  expect(await endpoints.count({ tenant: "b" })).toBe(1);
  expect(await endpoints.count()).toBe(2);
  sender.start();
  await sender.send({ name: "order", payload: {}, tenant: "a" });
  await receiver.until(1);
});

it("the same id of another tenant is another event", async () => {
  await sender.send({ id: "1", name: "order", payload: {}, tenant: "a" });
  const same = { id: "1", name: "order", payload: {} };
  await expect(sender.send({ ...same, tenant: "b" })).rejects.toMatchObject(refused);
  await expect(sender.send(same)).rejects.toMatchObject(refused);
  expect(await sender.send({ ...same, tenant: "a" })).toMatchObject({ isDuplicate: true });
});

it("an event finds its endpoints by an index", async () => {
  const topics = { containsAny: ["a/order", "a/*"] };
  const query = { where: { topics, status: "enabled" } } as const;
  const { warnings } = administer(store).explain(senderCollections.endpoints, query);
  expect(warnings).toEqual([]);
});
