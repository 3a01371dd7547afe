import type { Store, Stored } from "@fetchwork/documents";
import type { PreparedEvent } from "./event-writer.ts";
import type { DeliveryRecord } from "../records.ts";
import { senderCollections } from "../sender-collections.ts";

/** Test to store. */
interface TestToStore {
  readonly endpointId: string;
  readonly event: PreparedEvent;
  /** Milliseconds after which its delivery is given up. */
  readonly giveUpAfter: number;
}

/** Stores an event with its one delivery, and no job; `undefined` without the endpoint. */
export function storeTest(
  store: Store,
  { endpointId, event: { id: eventId, ...event }, giveUpAfter }: TestToStore,
): Promise<Stored<DeliveryRecord> | undefined> {
  return store.transaction(async (transaction) => {
    const endpoint = await transaction.collection(senderCollections.endpoints).get(endpointId);
    if (endpoint === undefined) return undefined;
    const { tenant } = endpoint;
    const events = transaction.collection(senderCollections.events);
    await events.insert({ ...event, ...(tenant !== undefined && { tenant }) }, { id: eventId });
    const now = Date.now();
    return transaction.collection(senderCollections.deliveries).insert({
      eventId,
      eventName: event.name,
      endpointId,
      status: "pending",
      dueAt: new Date(now).toISOString(),
      expiresAt: new Date(now + giveUpAfter).toISOString(),
      attempts: 0,
      history: [],
    });
  });
}
