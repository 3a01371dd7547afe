import type { Collection, Store, Stored } from "@fetchwork/documents";
import type { JobHandler } from "@fetchwork/documents/jobs";
import type { EventJobInput } from "./event-jobs.ts";
import type { DeliveryRecord, EndpointRecord, EventRecord } from "../records.ts";
import { senderCollections } from "../sender-collections.ts";
import { joinLane } from "./lanes.ts";
import { topicsOfEvent } from "../endpoints/subscriptions.ts";

/** Maximum difference between clocks of processes, in milliseconds; as receivers allow. */
const clockTolerance = 300_000;

/**
 * Makes the handler of an event's job. It stores one delivery for each enabled endpoint that wants
 * the event. They are stored with the end of the job, so they are there exactly once, whatever is
 * killed.
 *
 * @param giveUpAfter - Milliseconds from the event after which a delivery is given up.
 * @param onStored - Called with the endpoints of deliveries that were stored.
 */
export function fanOut(
  store: Store,
  giveUpAfter: number,
  onStored: (endpointIds: readonly string[]) => void,
): JobHandler<EventJobInput> {
  const events = store.collection(senderCollections.events);
  const endpoints = store.collection(senderCollections.endpoints);
  return async ({ eventId }, run) => {
    const event = await events.get(eventId);
    // Somebody removed it from the store.
    if (event === undefined) return;
    const targets = await endpointsFor(event, endpoints);
    const { createdAt, name: eventName, key } = event;
    const expiresAt = new Date(Date.parse(createdAt) + giveUpAfter).toISOString();
    // The clock of the process that sent it may be ahead.
    const dueAt = new Date(Math.min(Date.parse(createdAt), Date.now())).toISOString();
    const records = targets.map(({ id: endpointId }): DeliveryRecord => {
      const ids = { eventId, eventName, endpointId };
      return { ...ids, status: "pending", dueAt, expiresAt, attempts: 0, history: [] };
    });
    await run.complete(async (transaction) => {
      const deliveries = transaction.collection(senderCollections.deliveries);
      if (key === undefined) {
        if (records.length > 0) await deliveries.insertMany(records);
        return;
      }
      for (const record of records) {
        const place = await joinLane(transaction, `${record.endpointId}/${key}`, dueAt);
        await deliveries.insert({ ...record, ...place });
      }
    });
    onStored(targets.map(({ id }) => id));
  };
}

async function endpointsFor(
  event: Stored<EventRecord>,
  endpoints: Collection<EndpointRecord>,
): Promise<readonly Stored<EndpointRecord>[]> {
  const { tenant, name, payload, createdAt } = event;
  const topics = topicsOfEvent({ tenant, name, action: actionOf(payload) });
  const found = await endpoints.find({ where: { topics: { containsAny: topics } } });
  // One that came after the event did not ask for it, as far as the clocks of processes tell.
  const latest = new Date(Date.parse(createdAt) + clockTolerance).toISOString();
  return found.filter((each) => each.status === "enabled" && each.createdAt <= latest);
}

function actionOf(payload: string): string | undefined {
  const value: unknown = JSON.parse(payload);
  if (typeof value !== "object" || value === null || !("action" in value)) return undefined;
  return typeof value.action === "string" ? value.action : undefined;
}
