import { standardScheme } from "../schemes/standard-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { textOf } from "./payload-fields.ts";
import { type StandardEvents, standardWebhooks } from "./standard-webhooks.ts";

/** Svix: Standard Webhooks with the headers `svix-id`, `svix-timestamp` and `svix-signature`. */
export const svix: Vendor<StandardEvents> = /* @__PURE__ */ defineVendor<StandardEvents>({
  ...standardWebhooks,
  name: "svix",
  scheme: /* @__PURE__ */ standardScheme({ headerPrefix: "svix-" }),
  deliveryHeader: "svix-id",
  describe: (headers, payload) => ({
    id: headers.get("svix-id") ?? "",
    name: textOf(payload, "type", "event_type"),
  }),
});
