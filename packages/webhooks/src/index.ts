export { vendor } from "./default-vendor.ts";
export {
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorOptions,
  WebhookHandlerError,
  WebhookReceiveError,
  WebhookUsageError,
  type WebhookUsageErrorCode,
} from "./errors.ts";
export type { EventHandlerOptions, HandlerContext } from "./event-handler-options.ts";
export type {
  AnyEvent,
  BaseName,
  EventMap,
  EventName,
  Payload,
  UnknownPayload,
  UntypedEvent,
  WebhookEvent,
} from "./event-map.ts";
export { emitterEventNames, type EmitterWebhookEventName } from "./event-names.ts";
export type { Logger } from "./logger.ts";
export type { ReplayOptions, ReplayState, ReplayStore } from "./replay-store.ts";
export type {
  HeaderReader,
  MaybePromise,
  MessageToSign,
  SignatureFault,
  SignatureKey,
  SignatureScheme,
  SignedMessage,
} from "./signature-scheme.ts";
export { defineVendor, type BodyKind, type DeliveryNames, type Vendor } from "./vendor.ts";
export type { EmitterWebhookEvent, VendorEvents, VendorPayload } from "./vendor-events.ts";
export type { DeliveryContext, SecretFunction, WebhooksOptions } from "./webhooks-options.ts";
