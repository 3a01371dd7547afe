import type { UntypedEvents } from "../event-map.ts";
import { twilioScheme } from "../schemes/twilio-scheme.ts";
import { defineVendor, type Vendor } from "./define-vendor.ts";
import { textOf } from "./payload-fields.ts";

/**
 * Twilio: `X-Twilio-Signature` of the URL and the form; receivers need their public `url`. The
 * secret is the auth token.
 *
 * The name is `EventType` where there is one, else `message` or `call` with its status as the
 * action (`message.received`, `call.ringing`, …). Else it is `type` of JSON, or `event`. The
 * response is an empty TwiML document: Twilio would send any text to the sender of the message.
 */
export const twilio: Vendor<UntypedEvents> = /* @__PURE__ */ defineVendor<UntypedEvents>({
  name: "twilio",
  path: "/api/twilio/webhooks",
  scheme: /* @__PURE__ */ twilioScheme(),
  eventNames: [],
  contentTypes: ["form", "json"],
  contentType: "application/x-www-form-urlencoded",
  response: { contentType: "text/xml", body: "<Response/>" },
  describe: (headers, payload) => ({
    id: headers.get("i-twilio-idempotency-token") ?? textOf(payload, "MessageSid", "CallSid", "id"),
    name:
      textOf(payload, "EventType") ||
      (textOf(payload, "MessageSid") && "message") ||
      (textOf(payload, "CallSid") && "call") ||
      textOf(payload, "type") ||
      "event",
  }),
  actionOf: (payload) => textOf(payload, "MessageStatus", "SmsStatus", "CallStatus") || undefined,
});
