import type { UnknownPayload } from "../event-map.ts";
import { standardScheme } from "../schemes/standard-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { noAction, textOf } from "./payload-fields.ts";

/** Payload of Standard Webhooks. */
export interface StandardPayload extends UnknownPayload {
  /** Name of the event, such as `invoice.paid`. */
  readonly type: string;
  /** When it happened, as the sender writes it. */
  readonly timestamp: string;
  readonly data: UnknownPayload;
}

/** Any event: the names are the sender's. */
export interface StandardEvents {
  readonly [name: string]: StandardPayload;
}

/** Standard Webhooks 1.0: `webhook-id`, and the event name in `type`. Secrets are `whsec_…`. */
export const standardWebhooks: Vendor<StandardEvents> =
  /* @__PURE__ */ defineVendor<StandardEvents>({
    name: "standard-webhooks",
    path: "/webhooks",
    scheme: /* @__PURE__ */ standardScheme(),
    deliveryHeader: "webhook-id",
    eventNames: [],
    describe: (headers, payload) => ({
      id: headers.get("webhook-id") ?? "",
      name: textOf(payload, "type", "event_type"),
    }),
    actionOf: noAction,
  });
