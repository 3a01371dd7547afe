export { collectionReplayStore, type ReplayDocument } from "./receive/collection-replay-store.ts";
export { vendor } from "./vendors/default-vendor.ts";
export {
  WebhookError,
  type WebhookErrorCode,
  WebhookHandlerError,
  WebhookReceiveError,
  WebhookUsageError,
  type WebhookUsageErrorCode,
} from "./errors.ts";
export type { EventHandlerOptions } from "./dispatch/event-handler-options.ts";
export { createEventHandler, type EventHandler } from "./dispatch/event-handler.ts";
export type { EventName, UnknownPayload, UntypedEvents, WebhookEvent } from "./event-map.ts";
export { emitterEventNames, type EmitterWebhookEventName } from "./vendors/event-names.ts";
export {
  createLambdaHandler,
  type LambdaEvent,
  type LambdaResult,
} from "./adapters/lambda-handler.ts";
export { createNodeMiddleware, type NodeMiddleware } from "./adapters/node-middleware.ts";
export type { ReceiverOptions } from "./receive/receiver-options.ts";
export type { ReplayOptions, ReplayStore } from "./receive/replay-store.ts";
export type { SignatureScheme } from "./schemes/signature-scheme.ts";
export { signRequest, simulate } from "./adapters/sign-request.ts";
export { validateEventName } from "./dispatch/validate-event-name.ts";
export { defineVendor, type Vendor } from "./vendors/define-vendor.ts";
export type { EmitterWebhookEvent, VendorEvents } from "./vendors/vendor-events.ts";
export type { WebhooksOptions } from "./receive/webhooks-options.ts";
export {
  createWebMiddleware,
  type WebMiddleware,
  type WebReceiverOptions,
} from "./adapters/web-middleware.ts";
export { type Delivery, Webhooks } from "./receive/webhooks.ts";
