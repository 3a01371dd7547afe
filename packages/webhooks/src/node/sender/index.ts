export type { AnnouncedCollection } from "./events/announce-changes.ts";
export { createSender, type StoredDelivery, type Sender } from "./create-sender.ts";
export type { WebhookEndpoint, Endpoints } from "./endpoints/endpoints.ts";
export type { EventToSend } from "./events/event-to-send.ts";
export type { SentEvent } from "./events/event-writer.ts";
export { publicTransport } from "./deliveries/public-transport.ts";
export { senderCollections } from "./sender-collections.ts";
export type { SenderOptions } from "./sender-options.ts";
export type { AttemptReport } from "./deliveries/settle-delivery.ts";
