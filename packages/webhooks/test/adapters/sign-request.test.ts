import { describe, expect, it, vi } from "vitest";
import {
  simulate,
  signRequest,
  type Vendor,
  vendor,
  Webhooks,
  WebhookUsageError,
} from "../../src/index.ts";
import {
  fetchwork,
  github,
  gitlab,
  shopify,
  slack,
  standardWebhooks,
  stripe,
} from "../../src/vendors/index.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const log = { warn: () => undefined, error: () => undefined };

/** Each vendor with an event, its payload, and what handlers get of it. */
const vendors: readonly (readonly [Vendor, string, object, object])[] = [
  [vendor, "issues.opened", { n: 1 }, { name: "issues", payload: { action: "opened", n: 1 } }],
  [github, "push", { ref: "a" }, { name: "push", payload: { ref: "a" } }],
  [fetchwork, "order.paid", { total: 1 }, { name: "order.paid", payload: { total: 1 } }],
  [stripe, "invoice.paid", { data: {} }, { payload: { id: "d1", type: "invoice.paid", data: {} } }],
  [standardWebhooks, "a.b", { data: {} }, { id: "d1", name: "a.b" }],
  [shopify, "orders/create", { id: 3 }, { name: "orders/create", payload: { id: 3 } }],
  [gitlab, "push", { object_kind: "push" }, { name: "push" }],
  [slack, "block_actions", {}, { name: "block_actions" }],
  [
    slack,
    "app_mention",
    { type: "event_callback", event_id: "d1", event: { type: "app_mention" } },
    { id: "d1", name: "app_mention" },
  ],
];

describe("simulate()", () => {
  it.each(vendors)("delivers as %j does: %s", async (platform, name, payload, expected) => {
    const webhooks = new Webhooks({ secret, vendor: platform, log });
    const seen = vi.fn();
    webhooks.onAny((event) => void seen(event));
    const response = await simulate(webhooks, name, payload, { id: "d1" });
    expect(response.status).toBe(200);
    expect(seen.mock.calls).toMatchObject([[expected]]);
  });

  it("returns what the receiver responds when a handler fails", async () => {
    const webhooks = new Webhooks({ secret, log, maxUnverified: 1000 });
    webhooks.on("push", () => {
      throw new Error("broken");
    });
    expect((await simulate(webhooks, "push", {})).status).toBe(500);
  });

  it("signs for the tenant that the URL names", async () => {
    const webhooks = new Webhooks({
      log,
      secret: ({ url = "" }) => (url.includes("tenant=a") ? secret : undefined),
    });
    const url = "http://localhost/hooks?tenant=a";
    expect((await simulate(webhooks, "push", {}, { url })).status).toBe(200);
    await expect(simulate(webhooks, "push", {})).rejects.toThrow("no secret");
  });

  it("refuses a payload of another event, and options that do not exist", async () => {
    const webhooks = new Webhooks({ secret, vendor: gitlab, log });
    const payload = { object_kind: "merge_request" };
    const refusal = 'the event of the payload must be "push", got "merge_request"';
    await expect(simulate(webhooks, "push", payload)).rejects.toThrow(refusal);
    await expect(simulate(webhooks, "push", payload)).rejects.toThrow(WebhookUsageError);
    const options = { ID: "d1" } as object;
    await expect(simulate(webhooks, "push", payload, options)).rejects.toThrow("ID");
  });
});

describe("signRequest()", () => {
  it("makes a request that is verified by its secret only", async () => {
    const request = await signRequest({ secret, name: "push", payload: { ref: "a" }, id: "d1" });
    expect(request.url).toBe("http://localhost/api/vendor/webhooks");
    const parse = (text: string): Promise<unknown> =>
      new Webhooks({ secret: text, log }).verifyAndParse(request.clone());
    expect(await parse(secret)).toEqual({ id: "d1", name: "push", payload: { ref: "a" } });
    await expect(parse("another secret")).rejects.toMatchObject({ code: "ERR_WEBHOOKS_SIGNATURE" });
  });

  it("signs a text as it is, and at any time", async () => {
    const request = await signRequest({
      vendor: stripe,
      secret,
      name: "",
      payload: "{ }",
      timestamp: 12,
      url: "https://example.com/hooks",
    });
    expect(await request.clone().text()).toBe("{ }");
    expect(request.headers.get("stripe-signature")).toMatch(/^t=12,v1=/);
    expect(request.url).toBe("https://example.com/hooks");
  });

  it.each([
    ["vendor", { vendor: "github" }],
    ["secret", { secret: "" }],
    ["event", { event: "push" }],
  ])("refuses the option %s when it is invalid", async (option, options) => {
    const delivery = { secret, name: "push", payload: {}, ...(options as object) };
    await expect(signRequest(delivery)).rejects.toThrow(WebhookUsageError);
    await expect(signRequest(delivery)).rejects.toThrow(option);
  });
});
