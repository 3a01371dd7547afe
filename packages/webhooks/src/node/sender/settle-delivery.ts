import type { AttemptResult } from "./attempt-delivery.ts";
import type { SenderDocument, SenderDocuments } from "./document-store.ts";
import type { Attempt, DeadReason, DeliveryRecord, EndpointRecord } from "./records.ts";
import type { RetrySchedule } from "./retry-schedule.ts";

/** What one try meant for its delivery. */
export interface AttemptReport {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly eventName: string;
  readonly endpointId: string;
  /** Absent when the delivery was given up without a try. */
  readonly attempt?: Attempt | undefined;
  /** Which try it was, from 1. */
  readonly number: number;
  readonly outcome: "delivered" | "retry" | "dead";
  /** When it is tried again; ISO 8601. */
  readonly nextAt?: string | undefined;
  readonly deadReason?: DeadReason | undefined;
}

/** A delivery that this process has taken. */
export type ClaimedDelivery = DeliveryRecord & SenderDocument;

/** What settling needs. */
export interface SettleParts {
  readonly deliveries: SenderDocuments<DeliveryRecord>;
  readonly endpoints: SenderDocuments<EndpointRecord>;
  readonly schedule: RetrySchedule;
  /** Milliseconds of failing after which an endpoint is disabled. */
  readonly disableAfter: number;
}

const historyLength = 20;

/** Stores what came of a try, and what it says about the endpoint. */
export async function settleDelivery(
  delivery: ClaimedDelivery,
  result: AttemptResult,
  parts: SettleParts,
): Promise<AttemptReport> {
  const { startedAt, duration, status, error } = result;
  const attempt: Attempt = {
    at: startedAt.toISOString(),
    duration: Math.round(duration),
    status,
    error,
  };
  const history = [...delivery.history, attempt].slice(-historyLength);
  const { endpointId } = delivery;
  if (status !== undefined && status >= 200 && status < 300) {
    const settledAt = new Date().toISOString();
    // Not tied to the version: should another process have taken over, it was delivered all the same.
    await parts.deliveries.update(delivery.id, { status: "delivered", settledAt, history });
    await noteSuccess(endpointId, parts.endpoints);
    return report(delivery, { attempt, outcome: "delivered" });
  }
  const endpoint = await noteFailure(endpointId, status, parts);
  if (endpoint === "gone" || endpoint === "disabled") {
    return giveUp(delivery, { deadReason: endpoint, attempt, history, parts });
  }
  const next = Date.now() + parts.schedule.delayAfter(delivery.attempts, result.retryAfter);
  if (next > Date.parse(delivery.expiresAt)) {
    return giveUp(delivery, { deadReason: "expired", attempt, history, parts });
  }
  const dueAt = new Date(next).toISOString();
  await unlessTakenOver(
    parts.deliveries.update(delivery.id, { dueAt, history }, { ifVersion: delivery.version }),
  );
  return report(delivery, { attempt, outcome: "retry", nextAt: dueAt });
}

/** Moves a delivery to the dead ones. */
export async function giveUp(
  delivery: ClaimedDelivery,
  details: {
    readonly deadReason: DeadReason;
    readonly attempt?: Attempt;
    readonly history?: readonly Attempt[];
    readonly parts: SettleParts;
  },
): Promise<AttemptReport> {
  const { deadReason, attempt, history = delivery.history, parts } = details;
  const settledAt = new Date().toISOString();
  await unlessTakenOver(
    parts.deliveries.update(
      delivery.id,
      { status: "dead", deadReason, settledAt, history },
      { ifVersion: delivery.version },
    ),
  );
  return report(delivery, { attempt, outcome: "dead", deadReason });
}

/** Tells whether an error says that the document changed in between. */
export function isVersionConflict(error: unknown): boolean {
  if (!(error instanceof Error) || !("code" in error)) return false;
  return typeof error.code === "string" && error.code.endsWith("_VERSION");
}

async function unlessTakenOver(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!isVersionConflict(error)) throw error;
  }
}

async function noteSuccess(id: string, endpoints: SenderDocuments<EndpointRecord>): Promise<void> {
  const endpoint = await endpoints.get(id);
  if (endpoint?.failingSince !== undefined) await endpoints.update(id, { failingSince: undefined });
}

async function noteFailure(
  id: string,
  status: number | undefined,
  { endpoints, disableAfter }: SettleParts,
): Promise<"enabled" | "disabled" | "gone"> {
  const endpoint = await endpoints.get(id);
  if (endpoint === undefined) return "enabled";
  const now = new Date();
  const disabledAt = now.toISOString();
  if (status === 410) {
    await endpoints.update(id, { status: "disabled", disabledReason: "gone", disabledAt });
    return "gone";
  }
  if (endpoint.status === "disabled") return "disabled";
  if (endpoint.failingSince === undefined) {
    await endpoints.update(id, { failingSince: disabledAt });
    return "enabled";
  }
  if (now.getTime() - Date.parse(endpoint.failingSince) < disableAfter) return "enabled";
  await endpoints.update(id, { status: "disabled", disabledReason: "failing", disabledAt });
  return "disabled";
}

function report(
  { id, eventId, eventName, endpointId, attempts }: ClaimedDelivery,
  rest: Pick<AttemptReport, "attempt" | "outcome" | "nextAt" | "deadReason">,
): AttemptReport {
  return { deliveryId: id, eventId, eventName, endpointId, number: attempts, ...rest };
}
