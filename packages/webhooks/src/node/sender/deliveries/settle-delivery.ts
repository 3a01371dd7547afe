import {
  type Change,
  type Collection,
  type Store,
  type Stored,
  VersionError,
} from "@fetchwork/documents";
import type { AttemptResult } from "./attempt-delivery.ts";
import type { Breaker } from "./breaker.ts";
import type { DeliveryAttempt, DeadReason, DeliveryRecord, EndpointRecord } from "../records.ts";
import { leaveLane } from "../events/lanes.ts";
import { senderCollections } from "../sender-collections.ts";
import type { RetrySchedule } from "./retry-schedule.ts";

/** Outcome of one attempt for its delivery. */
export interface AttemptReport {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventName: string;
  readonly endpointId: string;
  /** Absent when the delivery was given up without an attempt. */
  readonly attempt?: DeliveryAttempt | undefined;
  /** Number of the attempt, from 1. */
  readonly number: number;
  /** `retry`: another attempt follows; `dead`: none does, see `deadReason`. */
  readonly outcome: "delivered" | "retry" | "dead";
  /** Time of the next attempt; ISO 8601. */
  readonly nextAt?: string | undefined;
  readonly deadReason?: DeadReason | undefined;
}

/** A delivery that this process has taken. */
export type ClaimedDelivery = Stored<DeliveryRecord>;

/** Parts that settling a delivery needs. */
export interface SettleParts {
  readonly store: Store;
  readonly deliveries: Collection<DeliveryRecord>;
  readonly endpoints: Collection<EndpointRecord>;
  readonly schedule: RetrySchedule;
  readonly breaker: Breaker;
  /** Milliseconds of failing after which an endpoint is disabled. */
  readonly disableAfter: number;
}

const historyLength = 20;

/** Stores the result of an attempt, and what it means for the endpoint. */
export async function settleDelivery(
  delivery: ClaimedDelivery,
  result: AttemptResult & {
    /** Where it was sent. */
    readonly url: string;
  },
  parts: SettleParts,
): Promise<AttemptReport> {
  const { attempt, url } = result;
  const { status } = attempt;
  const history = [...delivery.history, attempt].slice(-historyLength);
  const { endpointId } = delivery;
  if (status !== undefined && status >= 200 && status < 300) {
    const settledAt = new Date().toISOString();
    // Not tied to the version: should another process have taken over, it was delivered all the
    // same.
    const delivered = { status: "delivered", settledAt, history, deadReason: undefined } as const;
    await end(delivery, delivered, parts);
    await Promise.all([
      noteSuccess(endpointId, parts.endpoints),
      parts.breaker.delivered(endpointId),
    ]);
    return report(delivery, { attempt, outcome: "delivered" });
  }
  const endpoint = await noteFailure(endpointId, { status, url }, parts);
  if (endpoint === "gone" || endpoint === "disabled") {
    return giveUp(delivery, { deadReason: endpoint, attempt, history, parts });
  }
  if (endpoint === "enabled") await parts.breaker.failed(endpointId);
  const now = Date.now();
  const left = Date.parse(delivery.expiresAt) - now;
  const planned = parts.schedule.delayAfter(delivery.attempts);
  if (planned > left) return giveUp(delivery, { deadReason: "expired", attempt, history, parts });
  // `Retry-After` is honoured until the delivery expires: that is the time of its last attempt.
  const wait = Math.max(planned, Math.min(result.retryAfter ?? 0, left));
  const dueAt = new Date(now + wait).toISOString();
  const isOurs = await unlessTakenOver(
    parts.deliveries.update(delivery.id, { dueAt, history }, { ifVersion: delivery.version }),
  );
  return report(delivery, { attempt, outcome: "retry", nextAt: isOurs ? dueAt : undefined });
}

/** Moves a delivery to the dead ones. */
export async function giveUp(
  delivery: ClaimedDelivery,
  details: {
    readonly deadReason: DeadReason;
    readonly attempt?: DeliveryAttempt;
    readonly history?: readonly DeliveryAttempt[];
    readonly parts: SettleParts;
  },
): Promise<AttemptReport> {
  const { deadReason, attempt, history = delivery.history, parts } = details;
  const settledAt = new Date().toISOString();
  const isOurs = await unlessTakenOver(
    end(delivery, { status: "dead", deadReason, settledAt, history }, parts, {
      ifVersion: delivery.version,
    }),
  );
  // The process that took it over retries.
  return report(
    delivery,
    isOurs ? { attempt, outcome: "dead", deadReason } : { attempt, outcome: "retry" },
  );
}

/** Writes that a delivery is delivered or dead, and lets the next one of its lane begin. */
async function end(
  { id, lane }: ClaimedDelivery,
  change: Change<DeliveryRecord>,
  { store, deliveries }: SettleParts,
  options?: { readonly ifVersion: number },
): Promise<void> {
  if (lane === undefined) {
    await deliveries.update(id, change, options);
    return;
  }
  await store.transaction(async (transaction) => {
    const own = transaction.collection(senderCollections.deliveries);
    const before = await own.get(id);
    await own.update(id, change, options);
    // Another process that had taken it over may have ended it.
    if (before?.status === "pending") await leaveLane(transaction, lane);
  });
}

/** Resolves to whether a change was made, and not refused because of another change. */
export async function unlessTakenOver(change: Promise<unknown>): Promise<boolean> {
  try {
    await change;
    return true;
  } catch (error) {
    if (!(error instanceof VersionError)) throw error;
    return false;
  }
}

async function noteSuccess(id: string, endpoints: Collection<EndpointRecord>): Promise<void> {
  const endpoint = await endpoints.get(id);
  if (endpoint?.failingSince !== undefined) await endpoints.update(id, { failingSince: undefined });
}

async function noteFailure(
  id: string,
  { status, url }: { readonly status: number | undefined; readonly url: string },
  { endpoints, disableAfter }: SettleParts,
): Promise<"enabled" | "disabled" | "gone" | "other"> {
  const endpoint = await endpoints.get(id);
  // The response of another URL means nothing for the current one.
  if (endpoint === undefined || endpoint.url !== url) return "other";
  if (endpoint.status === "disabled") {
    return status === 410 && endpoint.disabledReason === "gone" ? "gone" : "disabled";
  }
  const now = new Date();
  const disabledAt = now.toISOString();
  const change = (fields: Change<EndpointRecord>): Promise<boolean> =>
    unlessTakenOver(endpoints.update(id, fields, { ifVersion: endpoint.version }));
  if (status === 410) {
    const isGone = await change({ status: "disabled", disabledReason: "gone", disabledAt });
    return isGone ? "gone" : "enabled";
  }
  const { failingSince } = endpoint;
  if (failingSince === undefined) await change({ failingSince: disabledAt });
  if (failingSince === undefined || now.getTime() - Date.parse(failingSince) < disableAfter) {
    return "enabled";
  }
  const isFailing = await change({ status: "disabled", disabledReason: "failing", disabledAt });
  return isFailing ? "disabled" : "enabled";
}

function report(
  { id, eventId, eventName, endpointId, attempts }: ClaimedDelivery,
  rest: Pick<AttemptReport, "attempt" | "outcome" | "nextAt" | "deadReason">,
): AttemptReport {
  return { deliveryId: id, eventId, eventName, endpointId, number: attempts, ...rest };
}
