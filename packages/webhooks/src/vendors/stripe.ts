import type { UnknownPayload } from "../event-map.ts";
import { stripeScheme } from "../schemes/stripe-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { noAction, textOf } from "./payload-fields.ts";

/** Payload of Stripe: its event object. */
export interface StripePayload extends UnknownPayload {
  readonly id: string;
  /** Name of the event, such as `invoice.paid`. */
  readonly type: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly livemode: boolean;
  readonly data: { readonly object: UnknownPayload; readonly previous_attributes?: UnknownPayload };
}

/** Any event: Stripe adds to its list with every version. */
export interface StripeEvents {
  readonly [name: string]: StripePayload;
}

/** Stripe: `Stripe-Signature`; identifier and name are `id` and `type` of the body. */
export const stripe: Vendor<StripeEvents> = /* @__PURE__ */ defineVendor<StripeEvents>({
  name: "stripe",
  path: "/api/stripe/webhooks",
  scheme: /* @__PURE__ */ stripeScheme(),
  eventNames: [],
  describe: (_, payload) => ({ id: textOf(payload, "id"), name: textOf(payload, "type") }),
  signedId: (payload) => textOf(payload, "id"),
  actionOf: noAction,
});
