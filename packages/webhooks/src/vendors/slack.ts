import type { UntypedEvents } from "../event-map.ts";
import { slackScheme } from "../schemes/slack-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { noAction, objectOf, textOf } from "./payload-fields.ts";

/**
 * Slack: Events API, interactive components and slash commands.
 *
 * The name is the inner event's type for the Events API, `slash_command` for commands, else the
 * payload's `type`. The challenge of `url_verification` is responded to without a handler.
 */
export const slack: Vendor<UntypedEvents> = /* @__PURE__ */ defineVendor<UntypedEvents>({
  name: "slack",
  path: "/api/slack/webhooks",
  scheme: /* @__PURE__ */ slackScheme(),
  eventNames: [],
  contentTypes: ["json", "form"],
  describe: (_, payload) => {
    const type = textOf(payload, "type");
    const inner = objectOf(payload, "event");
    const command = textOf(payload, "command") === "" ? "" : "slash_command";
    return {
      id: textOf(payload, "event_id", "trigger_id"),
      name: type === "event_callback" ? textOf(inner, "type") : type || command,
    };
  },
  signedId: (payload) => textOf(payload, "event_id", "trigger_id"),
  actionOf: noAction,
  handshakeResponse: (payload) =>
    textOf(payload, "type") === "url_verification" ? textOf(payload, "challenge") : undefined,
});
