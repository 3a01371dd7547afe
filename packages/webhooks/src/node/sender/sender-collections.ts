import type { SenderCollection } from "./document-store.ts";
import type { DeliveryRecord, EndpointRecord, EventRecord } from "./records.ts";

/** The collections of a sender, for `openStore(url, { collections })`; they are prepared at first use otherwise. */
export const senderCollections: {
  readonly endpoints: SenderCollection<EndpointRecord>;
  readonly events: SenderCollection<EventRecord>;
  readonly deliveries: SenderCollection<DeliveryRecord>;
} = {
  endpoints: { name: "webhook_endpoints", unique: [], indexes: [["status"]], search: [] },
  events: { name: "webhook_events", unique: [], indexes: [], search: [] },
  deliveries: {
    name: "webhook_deliveries",
    unique: [["eventId", "endpointId"]],
    indexes: [
      // With the endpoint, so that a look that leaves some out need not open what it passes over.
      ["status", "dueAt", "endpointId"],
      ["endpointId", "status", "dueAt"],
      ["settledAt"],
    ],
    search: [],
  },
};
