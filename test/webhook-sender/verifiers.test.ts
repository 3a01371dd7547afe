import { createHmac } from "node:crypto";
import { openStore } from "@fetchwork/documents";
import { type Vendor, Webhooks } from "@fetchwork/webhooks";
import { createSender } from "@fetchwork/webhooks/sender";
import {
  fetchwork,
  github,
  shopify,
  slack,
  standardWebhooks,
  stripe,
  vendor,
} from "@fetchwork/webhooks/vendors";
import { verify as octokitVerify } from "@octokit/webhooks-methods";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Stripe } from "stripe";
import { Webhook as SvixWebhook } from "svix";
import { describe, expect, it } from "vitest";
import { type Arrived, startReceiver } from "./receiver.ts";

const payload = {
  id: "evt_1",
  object: "event",
  type: "invoice.paid",
  timestamp: "2026-11-21T12:00:00Z",
  data: { text: "Grüße 🎉 \u2028" },
};

/** Sends one event with a real sender over a real socket. */
async function deliver(sentBy?: Vendor): Promise<{ arrived: Arrived; secret: string; id: string }> {
  await using store = await openStore("sqlite::memory:");
  await using receiver = await startReceiver();
  await using sender = createSender({
    store,
    vendor: sentBy,
    allowHttp: true,
    allowPrivate: true,
  });
  sender.start();
  const { secret } = await sender.endpoints.create({ url: receiver.url });
  const { id } = await sender.send({ name: "invoice.paid", payload });
  await receiver.until(1);
  const [arrived] = receiver.arrived;
  if (arrived === undefined) throw new Error("nothing arrived");
  return { arrived, secret, id };
}

function textHeaders({ headers }: Arrived): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

describe("what the sender sends", () => {
  it("is accepted by standardwebhooks and by svix, under the event's identifier", async () => {
    const { arrived, secret, id } = await deliver();
    const headers = textHeaders(arrived);
    expect(headers["webhook-id"]).toBe(id);
    expect(new StandardWebhook(secret).verify(arrived.body, headers)).toEqual(payload);
    const svix = new SvixWebhook(secret);
    expect(() => svix.verify(arrived.body, headers)).not.toThrow();
    expect(() => svix.verify(`${arrived.body} `, headers)).toThrow("No matching signature found");
    const other = new StandardWebhook(`whsec_${Buffer.alloc(32, 1).toString("base64")}`);
    expect(() => other.verify(arrived.body, headers)).toThrow("No matching signature found");
  });

  it("is accepted by stripe", async () => {
    const { arrived, secret } = await deliver(stripe);
    const signature = String(arrived.headers["stripe-signature"]);
    const { webhooks } = new Stripe("sk_test_x");
    expect(webhooks.constructEvent(arrived.body, signature, secret)).toMatchObject(payload);
    expect(() => webhooks.constructEvent(`${arrived.body} `, signature, secret)).toThrow(
      "No signatures found",
    );
  });

  it("is accepted by @octokit/webhooks-methods with the vendor `vendor`", async () => {
    const { arrived, secret } = await deliver(vendor);
    const signature = String(arrived.headers["x-hub-signature-256"]);
    expect(await octokitVerify(secret, arrived.body, signature)).toBe(true);
    expect(await octokitVerify(secret, `${arrived.body} `, signature)).toBe(false);
  });

  it("has the signatures that Slack and Shopify describe", async () => {
    const { arrived, secret } = await deliver(slack);
    const time = String(arrived.headers["x-slack-request-timestamp"]);
    const hex = createHmac("sha256", secret).update(`v0:${time}:${arrived.body}`).digest("hex");
    expect(arrived.headers["x-slack-signature"]).toBe(`v0=${hex}`);
    const shop = await deliver(shopify);
    const base64 = createHmac("sha256", shop.secret).update(shop.arrived.body).digest("base64");
    expect(shop.arrived.headers["x-shopify-hmac-sha256"]).toBe(base64);
  });

  it.each<readonly [string, Vendor]>([
    ["Fetchwork, the default", fetchwork],
    ["the vendor of the specification", vendor],
    ["GitHub", github],
    ["Standard Webhooks", standardWebhooks],
    ["Stripe", stripe],
    ["Slack", slack],
    ["Shopify", shopify],
  ])("is accepted by our receiver for %s, with its name", async (_, sentBy) => {
    const { arrived, secret } = await deliver(sentBy);
    const webhooks = new Webhooks({ secret, vendor: sentBy, onUnknownEventName: "ignore" });
    const headers = textHeaders(arrived);
    const event = await webhooks.verifyAndParse({ payload: arrived.body, headers });
    expect(event).toMatchObject({ name: "invoice.paid", payload });
  });
});
