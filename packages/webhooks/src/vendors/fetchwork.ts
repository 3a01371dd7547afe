import type { UntypedEvents } from "../event-map.ts";
import { standardScheme } from "../schemes/standard-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";

/**
 * Default vendor of `createSender` of `@fetchwork/webhooks/sender`. Deliveries are signed as in
 * Standard Webhooks, so the identifier in `webhook-id` is signed too. The event's name is in
 * `webhook-event`.
 *
 * A secret that begins with `whsec_` verifies with every implementation of Standard Webhooks; any
 * other secret is used as text.
 */
export const fetchwork: Vendor<UntypedEvents> = /* @__PURE__ */ defineVendor<UntypedEvents>({
  name: "fetchwork",
  path: "/api/fetchwork/webhooks",
  scheme: /* @__PURE__ */ standardScheme({ secrets: "text" }),
  eventHeader: "webhook-event",
  deliveryHeader: "webhook-id",
  eventNames: [],
});
