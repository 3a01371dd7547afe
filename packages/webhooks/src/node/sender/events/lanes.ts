import { createHash } from "node:crypto";
import type { Stored, Transaction } from "@fetchwork/documents";
import type { DeliveryRecord } from "../records.ts";
import { senderCollections } from "../sender-collections.ts";

/** When a delivery is due whose turn has not come. */
const never = "9999-12-31T23:59:59.999Z";

/**
 * Puts a new or replayed delivery into its lane: it is due when those before it are delivered or
 * given up. Every change of a lane writes its document, so no two transactions pass each other.
 */
export async function joinLane(
  transaction: Transaction,
  lane: string,
  dueAt: string,
): Promise<Pick<DeliveryRecord, "dueAt" | "lane" | "place">> {
  const lanes = transaction.collection(senderCollections.lanes);
  const now = Date.now();
  const { joined: place, version } = await lanes.upsert(
    { joined: now },
    // Clocks of processes differ, and go back.
    { id: laneId(lane), change: ({ joined }) => ({ joined: Math.max(now, joined + 1) }) },
  );
  return { lane, dueAt: version === 1 ? dueAt : never, place };
}

/** Lets the next delivery of a lane begin, in the transaction in which one is settled. */
export async function leaveLane(transaction: Transaction, lane: string): Promise<void> {
  const lanes = transaction.collection(senderCollections.lanes);
  const id = laneId(lane);
  await lanes.update(id, ({ joined }) => ({ joined: joined + 1 }));
  const deliveries = transaction.collection(senderCollections.deliveries);
  const where = { lane, status: "pending", dueAt: never } as const;
  const [next]: readonly Stored<DeliveryRecord>[] = await deliveries.find({
    where,
    sort: ["place"],
    limit: 1,
  });
  if (next === undefined) await lanes.remove(id);
  else await deliveries.update(next.id, { dueAt: new Date().toISOString() });
}

/** A lane is any text. */
function laneId(lane: string): string {
  return createHash("sha256").update(lane).digest("base64url");
}
