import { type CollectionDefinition, defineCollection } from "@fetchwork/documents";
import type {
  DeliveryRecord,
  EndpointRecord,
  EventRecord,
  HealthRecord,
  LaneRecord,
} from "./records.ts";

/**
 * The collections of a sender, for `openStore(url, { collections })`; they are prepared at first
 * use otherwise. A sender uses `jobCollections` of `@fetchwork/documents/jobs`, too.
 */
export const senderCollections: {
  readonly endpoints: CollectionDefinition<EndpointRecord>;
  readonly events: CollectionDefinition<EventRecord>;
  readonly deliveries: CollectionDefinition<DeliveryRecord>;
  /** Keys whose deliveries wait for each other. */
  readonly lanes: CollectionDefinition<LaneRecord>;
  /** Endpoints that fail again and again. */
  readonly health: CollectionDefinition<HealthRecord>;
} = {
  endpoints: defineCollection<EndpointRecord>("webhook_endpoints", {
    indexes: ["status", "topics", ["tenant", "createdAt"]],
  }),
  events: defineCollection<EventRecord>("webhook_events"),
  lanes: defineCollection<LaneRecord>("webhook_lanes"),
  health: defineCollection<HealthRecord>("webhook_health"),
  deliveries: defineCollection<DeliveryRecord>("webhook_deliveries", {
    unique: [["eventId", "endpointId"]],
    indexes: [
      // With the endpoint, so that a look that leaves some out need not open what it passes over.
      ["status", "dueAt", "endpointId"],
      ["endpointId", "status", "dueAt"],
      ["lane", "dueAt"],
      "settledAt",
    ],
  }),
};
