import type { UntypedEvents } from "../event-map.ts";
import { tokenScheme } from "../schemes/token-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { objectOf, textOf } from "./payload-fields.ts";

/**
 * GitLab: `X-Gitlab-Event`, `X-Gitlab-Event-UUID`, and the secret itself in `X-Gitlab-Token`. For
 * hooks with a signing token use `{ ...gitlab, scheme: standardScheme() }`.
 *
 * The name is the `object_kind` of the payload: `push`, `merge_request`, `merge_request.open`, …
 */
export const gitlab: Vendor<UntypedEvents> = /* @__PURE__ */ defineVendor<UntypedEvents>({
  name: "gitlab",
  path: "/api/gitlab/webhooks",
  scheme: /* @__PURE__ */ tokenScheme({ header: "X-Gitlab-Token" }),
  eventHeader: "X-Gitlab-Event",
  deliveryHeader: "X-Gitlab-Event-UUID",
  eventNames: [],
  describe: (headers, payload) => ({
    id: headers.get("x-gitlab-event-uuid") ?? "",
    name: textOf(payload, "object_kind", "event_name") || (headers.get("x-gitlab-event") ?? ""),
  }),
  actionOf: (payload) => textOf(objectOf(payload, "object_attributes"), "action") || undefined,
});
