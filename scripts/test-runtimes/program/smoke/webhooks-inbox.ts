import { defineCollection, openStore } from "@fetchwork/documents";
import { createWebMiddleware, signRequest, simulate } from "@fetchwork/webhooks";
import { createInbox } from "@fetchwork/webhooks/inbox";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { expect, type Platform } from "../platform.ts";

const payments = defineCollection<{ total: number }>("payments");

/** Stores a delivery that comes twice, and handles it once, at the second attempt. */
export async function smoke(platform: Platform): Promise<void> {
  const secret = "a secret of some length for the smoke test";
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const store = await openStore("sqlite::memory:");
  const backoff = { baseDelay: 10 };
  const inbox = createInbox({ store, vendor: fetchwork, secret, backoff, log });
  const handled = new Promise<void>((resolve) => {
    inbox.on("order.paid", async ({ payload }, { transaction, attempt }) => {
      await transaction.collection(payments).insert({ total: Number(payload["total"]) });
      if (attempt === 1) throw new Error("not ready yet");
      resolve();
    });
  });
  inbox.start();
  const receive = createWebMiddleware(inbox);
  const listener = await platform.listen((request) => receive(request));

  const url = listener.origin + fetchwork.path;
  const order = { name: "order.paid", payload: { total: 12 }, id: "e1" };
  const signed = await signRequest({ vendor: fetchwork, secret, ...order, url });
  expect("over a socket", (await fetch(signed)).status, 202);
  const again = await simulate(inbox, order.name, order.payload, { id: order.id });
  expect("a duplicate", again.status, 202);
  await handled;
  await inbox.stop();
  const stored = await store.collection(payments).find();
  expect(
    "what was written",
    stored.map(({ total }) => total),
    [12],
  );
  await store.close();
  await listener.close();
}

function ignore(): void {}
