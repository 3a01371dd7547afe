import { openStore } from "@fetchwork/documents";
import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
import { createSender, senderCollections } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { expect, type Platform } from "../platform.ts";

/** Stores an event and delivers it, the second try after a first that failed. */
export async function smoke(platform: Platform): Promise<void> {
  const secret = "a secret of some length for the smoke test";
  const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const webhooks = new Webhooks({ secret, vendor: fetchwork, log });
  let tries = 0;
  const handled = new Promise<unknown>((resolve) => {
    webhooks.onAny(({ payload }) => {
      tries += 1;
      if (tries === 1) throw new Error("not ready yet");
      resolve(payload);
    });
  });
  const receive = createWebMiddleware(webhooks, { path: "/hooks" });
  const listener = await platform.listen((request) => receive(request));

  const store = await openStore("sqlite::memory:", {
    collections: Object.values(senderCollections),
  });
  const retry = { firstDelay: 10, jitter: 0 };
  const sender = createSender({
    store,
    retry,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
  });
  sender.start();
  await sender.endpoints.create({ url: `${listener.origin}/hooks`, secret, events: ["push"] });
  await sender.send({ name: "push", payload: { total: 12 } });
  expect("what came", [await handled, tries], [{ total: 12 }, 2]);
  await sender.stop({ grace: 2000 });
  await store.close();
  await listener.close();
}

function ignore(): void {}
