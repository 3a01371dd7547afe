import { emitterEventNames } from "./event-names.ts";
import { hmacScheme } from "../schemes/hmac-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import type { VendorEvents } from "./vendor-events.ts";

/** Default: `X-Vendor-Event`, `-Delivery`, `X-Hub-Signature-256`, `/api/vendor/webhooks`. */
export const vendor: Vendor<VendorEvents> = /* @__PURE__ */ defineVendor<VendorEvents>({
  name: "vendor",
  path: "/api/vendor/webhooks",
  scheme: /* @__PURE__ */ hmacScheme(),
  eventHeader: "X-Vendor-Event",
  deliveryHeader: "X-Vendor-Delivery",
  eventNames: emitterEventNames,
});
