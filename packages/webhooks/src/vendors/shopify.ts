import type { UntypedEvents } from "../event-map.ts";
import { hmacScheme } from "../schemes/hmac-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { noAction } from "./payload-fields.ts";

/**
 * Shopify: `X-Shopify-Topic`, `X-Shopify-Webhook-Id`, `X-Shopify-Hmac-Sha256` in base64.
 *
 * The name is the topic: `orders/create`, `app/uninstalled`, …
 */
export const shopify: Vendor<UntypedEvents> = /* @__PURE__ */ defineVendor<UntypedEvents>({
  name: "shopify",
  path: "/api/shopify/webhooks",
  scheme: /* @__PURE__ */ hmacScheme({
    header: "X-Shopify-Hmac-Sha256",
    prefix: "",
    encoding: "base64",
  }),
  eventHeader: "X-Shopify-Topic",
  deliveryHeader: "X-Shopify-Webhook-Id",
  eventNames: [],
  actionOf: noAction,
});
