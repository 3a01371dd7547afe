import { createWebMiddleware, Webhooks } from "@fetchwork/webhooks";
import {
  standardScheme,
  standardWebhooks,
  stripe,
  stripeScheme,
} from "@fetchwork/webhooks/vendors";
import { expect, type FetchHandler, type Platform } from "../platform.ts";

type Scheme = ReturnType<typeof standardScheme>;

const body =
  '{"id":"evt_1","type":"invoice.paid","timestamp":"2026-01-01T00:00:00Z","data":{"object":{}}}';

/** Receives deliveries as Standard Webhooks and Stripe sign them. */
export async function smoke(platform: Platform): Promise<void> {
  const seen: string[] = [];
  const standard = new Webhooks({
    vendor: standardWebhooks,
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILA==",
  });
  standard.onAny(({ name }) => void seen.push(`standard ${name}`));
  const scheme = standardScheme();
  const receive = createWebMiddleware(standard, { path: "/hooks" });
  await deliver(platform, { scheme, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILA==", receive });

  const payments = new Webhooks({ vendor: stripe, secret: "whsec_smoke" });
  payments.onAny(({ name }) => void seen.push(`stripe ${name}`));
  const receivePayments = createWebMiddleware(payments, { path: "/hooks" });
  await deliver(platform, {
    scheme: stripeScheme(),
    secret: "whsec_smoke",
    receive: receivePayments,
  });
  expect("what was handled", seen, ["standard invoice.paid", "stripe invoice.paid"]);
}

async function deliver(
  platform: Platform,
  {
    scheme,
    secret,
    receive,
  }: { readonly scheme: Scheme; readonly secret: string; readonly receive: FetchHandler },
): Promise<void> {
  const timestamp = Math.floor(Date.now() / 1000);
  const listener = await platform.listen((request) => receive(request));
  const signed = await scheme
    .createKey(secret)
    .sign({ id: "msg_1", timestamp, body: new TextEncoder().encode(body) });
  const headers = { ...signed, "content-type": "application/json" };
  const url = `${listener.origin}/hooks`;
  const right = await fetch(url, { method: "POST", headers, body });
  expect("a delivery", [right.status, await right.text()], [200, "ok\n"]);
  const wrong = await fetch(url, { method: "POST", headers, body: `${body} ` });
  await wrong.body?.cancel();
  expect("a changed one", wrong.status, 400);
  await listener.close();
}
