import type { WebhookEvent } from "../event-map.ts";
import type { EmitterWebhookEventName } from "./event-names.ts";

/** Payload of an event of the default vendor: only the action is known. */
type VendorPayload<Name extends string> = Name extends `${string}.${infer Action}`
  ? { readonly action: Action; readonly [field: string]: unknown }
  : { readonly action?: string; readonly [field: string]: unknown };

/** Events of the default vendor. */
export type VendorEvents = { readonly [Name in EmitterWebhookEventName]: VendorPayload<Name> };

/**
 * An event of the default vendor. `EmitterWebhookEvent<"issues.opened">` has the name `issues` and
 * a payload whose action is `opened`.
 */
export type EmitterWebhookEvent<Name extends EmitterWebhookEventName = EmitterWebhookEventName> =
  WebhookEvent<VendorEvents, Name>;
