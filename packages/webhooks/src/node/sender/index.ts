export type { AnnouncedChange, AnnouncedCollection } from "./announce-changes.ts";
export { createSender, type StoredDelivery, type Sender } from "./create-sender.ts";
export type { WebhookEndpoint, EndpointChange, EndpointInput, Endpoints } from "./endpoints.ts";
export type { EventToSend } from "./event-to-send.ts";
export type { SentEvent } from "./event-writer.ts";
export { publicTransport } from "./public-transport.ts";
export { senderCollections } from "./sender-collections.ts";
export {
  type DeliveryAttempt,
  type DeliveryRecord,
  type EndpointRecord,
  type EventRecord,
} from "./records.ts";
export type { RetryScheduleOptions } from "./retry-schedule.ts";
export type { SenderOptions } from "./sender-options.ts";
export type { AttemptReport } from "./settle-delivery.ts";
