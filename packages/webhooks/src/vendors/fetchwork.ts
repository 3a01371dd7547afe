import type { UnknownPayload } from "../event-map.ts";
import { standardScheme } from "../schemes/standard-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";

/** Any event: the names are the sender's. */
export interface FetchworkEvents {
  readonly [name: string]: UnknownPayload;
}

/**
 * What `createSender` of `@fetchwork/webhooks/sender` sends by default: signed as Standard Webhooks do, so that the
 * identifier in `webhook-id` is signed too, and the event's name in `webhook-event`.
 *
 * A secret that begins with `whsec_` verifies with every implementation of Standard Webhooks; any other secret is used as
 * text.
 */
export const fetchwork: Vendor<FetchworkEvents> = /* @__PURE__ */ defineVendor<FetchworkEvents>({
  name: "fetchwork",
  path: "/api/fetchwork/webhooks",
  scheme: /* @__PURE__ */ standardScheme({ secrets: "text" }),
  eventHeader: "webhook-event",
  deliveryHeader: "webhook-id",
  eventNames: [],
});
