export {
  collectionReplayStore,
  type CollectionReplayStoreOptions,
  type ReplayCollection,
  type ReplayDocument,
} from "./receive/collection-replay-store.ts";
export { vendor } from "./vendors/default-vendor.ts";
export {
  WebhookError,
  type WebhookErrorCode,
  type WebhookErrorOptions,
  WebhookHandlerError,
  WebhookReceiveError,
  WebhookUsageError,
  type WebhookUsageErrorCode,
} from "./errors.ts";
export type { EventHandlerOptions, HandlerContext } from "./dispatch/event-handler-options.ts";
export {
  type AnyListener,
  createEventHandler,
  type ErrorListener,
  type EventHandler,
  type EventListener,
  type ReceivedEvent,
  type TransformedEvent,
} from "./dispatch/event-handler.ts";
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
export { emitterEventNames, type EmitterWebhookEventName } from "./vendors/event-names.ts";
export type { HeaderReader, HeaderRecord } from "./headers.ts";
export {
  createLambdaHandler,
  type LambdaEvent,
  type LambdaResult,
} from "./adapters/lambda-handler.ts";
export type { Logger } from "@fetchwork/kit";
export { memoryReplayStore, type MemoryReplayStoreOptions } from "./receive/memory-replay-store.ts";
export type { NodeRequest, NodeResponse } from "./adapters/node-message.ts";
export { createNodeMiddleware, type NodeMiddleware } from "./adapters/node-middleware.ts";
export type { ReceiverOptions } from "./receive/receiver-options.ts";
export type { ReplayOptions, ReplayState, ReplayStore } from "./receive/replay-store.ts";
export type {
  MessageToSign,
  SignatureFault,
  SignatureKey,
  SignatureScheme,
  SignedMessage,
} from "./schemes/signature-scheme.ts";
export {
  validateEventName,
  type ValidateEventNameOptions,
} from "./dispatch/validate-event-name.ts";
export {
  defineVendor,
  type BodyKind,
  type DeliveryNames,
  type Vendor,
} from "./vendors/define-vendor.ts";
export type { EmitterWebhookEvent, VendorEvents, VendorPayload } from "./vendors/vendor-events.ts";
export type {
  DeliveryContext,
  SecretFunction,
  WebhooksOptions,
} from "./receive/webhooks-options.ts";
export {
  createWebMiddleware,
  type WebMiddleware,
  type WebReceiverOptions,
} from "./adapters/web-middleware.ts";
export { type Delivery, type SignDetails, Webhooks } from "./receive/webhooks.ts";
