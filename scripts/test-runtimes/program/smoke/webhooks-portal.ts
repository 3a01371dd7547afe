import { openStore } from "@fetchwork/documents";
import { createPortal } from "@fetchwork/webhooks/portal";
import { createSender, senderCollections } from "@fetchwork/webhooks/sender";
import { expect, type Platform } from "../platform.ts";

/**
 * Adds an endpoint over the portal, sends it a test event, and keeps the portal from another
 * tenant.
 */
export async function smoke(platform: Platform): Promise<void> {
  const { promise: arrived, resolve: onArrival } = Promise.withResolvers<string | null>();
  const receiver = await platform.listen((request) => {
    onArrival(request.headers.get("webhook-event"));
    return new Response("ok");
  });
  const store = await openStore("sqlite::memory:", {
    collections: Object.values(senderCollections),
  });
  const eventTypes = { "order.paid": { example: { total: 12 } } };
  const sender = createSender({
    store,
    eventTypes,
    allowHttp: true,
    allowPrivate: true,
    pollInterval: 20,
  });
  sender.start();
  const portal = createPortal(sender, { authorize });
  const listener = await platform.listen((request) => portal(request));

  const page = await fetch(`${listener.origin}/webhooks/`);
  expect("the page", [page.status, (await page.text()).includes("<title>Webhooks")], [200, true]);
  const ask = async (tenant: string, path: string, body?: object): Promise<Response> =>
    fetch(`${listener.origin}/webhooks/api/${path}`, {
      headers: { "x-tenant": tenant, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
  const made = await ask("a", "endpoints", { url: `${receiver.origin}/hooks` });
  const { id } = (await made.json()) as { readonly id: string };
  const theirs = await ask("b", `endpoints/${id}`);
  expect("status for the tenant and for another one", [made.status, theirs.status], [201, 404]);
  const test = await ask("a", `endpoints/${id}/test`, { eventType: "order.paid" });
  expect("the test", [test.status, await arrived], [202, "order.paid"]);
  await sender.stop({ grace: 2000 });
  await store.close();
  await listener.close();
  await receiver.close();
}

function authorize({ headers }: Request): string | undefined {
  return headers.get("x-tenant") ?? undefined;
}
