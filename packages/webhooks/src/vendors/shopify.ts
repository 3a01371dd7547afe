import type { UnknownPayload } from "../event-map.ts";
import { hmacScheme } from "../schemes/hmac-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { noAction } from "./payload-fields.ts";

/** Any topic, as the header has it: `orders/create`, `app/uninstalled`, … */
export interface ShopifyEvents {
  readonly [topic: string]: UnknownPayload;
}

/** Shopify: `X-Shopify-Topic`, `X-Shopify-Webhook-Id`, `X-Shopify-Hmac-Sha256` in base64. */
export const shopify: Vendor<ShopifyEvents> = /* @__PURE__ */ defineVendor<ShopifyEvents>({
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
