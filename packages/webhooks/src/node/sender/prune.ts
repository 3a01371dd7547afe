import type { Store } from "@fetchwork/documents";
import { eventsWithJobs } from "./events/event-jobs.ts";
import { senderCollections } from "./sender-collections.ts";

/** Documents that are removed at once, so that other changes of the store get their turn. */
const batchSize = 200;

/**
 * Removes deliveries that were settled more than `keepFor` milliseconds ago. Removes events of that
 * age to which neither a job nor a delivery refers.
 */
export async function pruneSettled(store: Store, keepFor: number): Promise<void> {
  const deliveries = store.collection(senderCollections.deliveries);
  const before = new Date(Date.now() - keepFor).toISOString();
  const isSettled = {
    status: { in: ["delivered", "dead"] },
    settledAt: { lt: before },
  } as const;
  for (;;) {
    const settled = await deliveries.find({
      where: isSettled,
      sort: ["settledAt"],
      limit: batchSize,
      fields: ["eventId"],
    });
    if (settled.length === 0) break;
    // Once more with the condition: one of them may have been replayed.
    const ids = settled.map(({ id }) => id);
    const removed = await deliveries.removeMany({ where: { ...isSettled, id: { in: ids } } });
    if (removed === 0) break;
  }
  await pruneEvents(store, before);
}

async function pruneEvents(store: Store, before: string): Promise<void> {
  const events = store.collection(senderCollections.events);
  const deliveries = store.collection(senderCollections.deliveries);
  for (let kept = 0; ;) {
    const old = await events.find({
      where: { createdAt: { lt: before } },
      sort: ["createdAt"],
      limit: batchSize,
      offset: kept,
      fields: ["name"],
    });
    if (old.length === 0) return;
    const ids = old.map(({ id }) => id);
    // First, because the end of a job is what adds deliveries: none can come after this look and
    // before the next one.
    const waiting = await eventsWithJobs(store, ids);
    const where = { eventId: { in: ids } };
    const referring = await deliveries.find({ where, fields: ["eventId"] });
    const needed = new Set(referring.map(({ eventId }) => eventId));
    const unneeded = ids.filter((id) => !needed.has(id) && !waiting.has(id));
    if (unneeded.length > 0) await events.removeMany({ where: { id: { in: unneeded } } });
    kept += ids.length - unneeded.length;
  }
}
