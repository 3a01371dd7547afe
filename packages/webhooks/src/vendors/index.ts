export { vendor } from "./default-vendor.ts";
export { hmacScheme, type HmacSchemeOptions } from "../schemes/hmac-scheme.ts";
export { slackScheme } from "../schemes/slack-scheme.ts";
export { standardScheme, type StandardSchemeOptions } from "../schemes/standard-scheme.ts";
export { stripeScheme } from "../schemes/stripe-scheme.ts";
export type { TimestampOptions } from "../schemes/timestamp.ts";
export { tokenScheme } from "../schemes/token-scheme.ts";
export { defineVendor, type Vendor } from "./define-vendor.ts";
export { fetchwork } from "./fetchwork.ts";
export { github } from "./github.ts";
export type { GithubEventName, GithubEvents } from "./github-events.ts";
export { gitlab } from "./gitlab.ts";
export { shopify } from "./shopify.ts";
export { slack } from "./slack.ts";
export {
  standardWebhooks,
  type StandardEvents,
  type StandardPayload,
} from "./standard-webhooks.ts";
export { square } from "./square.ts";
export { stripe, type StripeEvents, type StripePayload } from "./stripe.ts";
export { svix } from "./svix.ts";
export { twilio } from "./twilio.ts";
