import type { SenderDocuments } from "./document-store.ts";
import type { DeliveryRecord, EventRecord } from "./records.ts";

/** What is pruned. */
export interface PruneParts {
  readonly deliveries: SenderDocuments<DeliveryRecord>;
  readonly events: SenderDocuments<EventRecord>;
}

/** Documents that are removed at once, so that other changes of the store get their turn. */
const batchSize = 200;

/**
 * Removes deliveries that were settled more than `keepFor` milliseconds ago, and events of that age that no delivery
 * refers to. No delivery is ever added to an event that is stored, so none can come in between.
 */
export async function pruneSettled(
  { deliveries, events }: PruneParts,
  keepFor: number,
): Promise<void> {
  const before = new Date(Date.now() - keepFor).toISOString();
  const isSettled = { status: { in: ["delivered", "dead"] }, settledAt: { lt: before } };
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
  await pruneEvents({ deliveries, events }, before);
}

async function pruneEvents({ deliveries, events }: PruneParts, before: string): Promise<void> {
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
    const where = { eventId: { in: ids } };
    const referring = await deliveries.find({ where, fields: ["eventId"] });
    const needed = new Set(referring.map(({ eventId }) => eventId));
    const unneeded = ids.filter((id) => !needed.has(id));
    if (unneeded.length > 0) await events.removeMany({ where: { id: { in: unneeded } } });
    kept += ids.length - unneeded.length;
  }
}
