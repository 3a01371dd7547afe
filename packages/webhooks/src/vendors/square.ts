import type { UntypedEvents } from "../event-map.ts";
import { hmacScheme } from "../schemes/hmac-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { noAction, textOf } from "./payload-fields.ts";

/**
 * Square: `x-square-hmacsha256-signature` of notification URL and body; receivers need that `url`.
 * Identifier and name are `event_id` and `type` of the body.
 */
export const square: Vendor<UntypedEvents> = /* @__PURE__ */ defineVendor<UntypedEvents>({
  name: "square",
  path: "/api/square/webhooks",
  scheme: /* @__PURE__ */ hmacScheme({
    header: "X-Square-HmacSha256-Signature",
    prefix: "",
    encoding: "base64",
    signsUrl: true,
  }),
  eventNames: [],
  describe: (_, payload) => ({ id: textOf(payload, "event_id"), name: textOf(payload, "type") }),
  signedId: (payload) => textOf(payload, "event_id"),
  actionOf: noAction,
});
