import type { UnknownPayload } from "../event-map.ts";
import { tokenScheme } from "../schemes/token-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { objectOf, textOf } from "./payload-fields.ts";

/** Any event, by its `object_kind`, and `<kind>.<action>`: `push`, `merge_request`, `merge_request.open`, … */
export interface GitlabEvents {
  readonly [name: string]: UnknownPayload;
}

/**
 * GitLab: `X-Gitlab-Event`, `X-Gitlab-Event-UUID`, and the secret itself in `X-Gitlab-Token`. For hooks with a signing
 * token use `{ ...gitlab, scheme: standardScheme() }`.
 */
export const gitlab: Vendor<GitlabEvents> = /* @__PURE__ */ defineVendor<GitlabEvents>({
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
