import type { SenderDocuments } from "./document-store.ts";
import type { DeliveryRecord, EventRecord } from "./records.ts";

/** Removes what was settled more than `keepFor` milliseconds ago, and events that nothing refers to any longer. */
export async function pruneSettled(
  {
    deliveries,
    events,
  }: {
    readonly deliveries: SenderDocuments<DeliveryRecord>;
    readonly events: SenderDocuments<EventRecord>;
  },
  { keepFor, giveUpAfter }: { readonly keepFor: number; readonly giveUpAfter: number },
): Promise<void> {
  const now = Date.now();
  const before = (milliseconds: number): string => new Date(now - milliseconds).toISOString();
  await deliveries.removeMany({
    where: { status: { in: ["delivered", "dead"] }, settledAt: { lt: before(keepFor) } },
  });
  // A delivery is settled when its time is over at the latest, and a replay may begin just before it is removed.
  const oldest = before(2 * (keepFor + giveUpAfter));
  await events.removeMany({ where: { createdAt: { lt: oldest } } });
}
