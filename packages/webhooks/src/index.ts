export {
  collectionReplayStore,
  type CollectionReplayStoreOptions,
  type ReplayCollection,
  type ReplayDocument,
} from "./collection-replay-store.ts";
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
export {
  type AnyListener,
  createEventHandler,
  type ErrorListener,
  type EventHandler,
  type EventListener,
  type ReceivedEvent,
  type TransformedEvent,
} from "./event-handler.ts";
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
export type { HeaderRecord } from "./header-record.ts";
export { createLambdaHandler, type LambdaEvent, type LambdaResult } from "./lambda-handler.ts";
export type { Logger } from "./logger.ts";
export { memoryReplayStore, type MemoryReplayStoreOptions } from "./memory-replay-store.ts";
export type { NodeRequest, NodeResponse } from "./node-message.ts";
export { createNodeMiddleware, type NodeMiddleware } from "./node-middleware.ts";
export type { ReceiverOptions } from "./receiver-options.ts";
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
export { validateEventName, type ValidateEventNameOptions } from "./validate-event-name.ts";
export { defineVendor, type BodyKind, type DeliveryNames, type Vendor } from "./vendor.ts";
export type { EmitterWebhookEvent, VendorEvents, VendorPayload } from "./vendor-events.ts";
export type { DeliveryContext, SecretFunction, WebhooksOptions } from "./webhooks-options.ts";
export {
  createWebMiddleware,
  type WebMiddleware,
  type WebReceiverOptions,
} from "./web-middleware.ts";
export { type Delivery, type SignDetails, Webhooks } from "./webhooks.ts";
