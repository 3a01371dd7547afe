import type { Collection } from "@fetchwork/documents";
import type { DeliveryRecord, HealthRecord } from "../records.ts";
import type { RetrySchedule } from "./retry-schedule.ts";

/** Parts that a {@link Breaker} works with. */
export interface BreakerParts {
  readonly health: Collection<HealthRecord>;
  readonly deliveries: Collection<DeliveryRecord>;
  readonly schedule: RetrySchedule;
}

/** Failures in a row after which an endpoint is paused. */
const tolerated = 4;
/** Milliseconds of the longest pause: then one delivery shows whether the endpoint is back. */
const longestPause = 300_000;
/** Endpoints whose failures are remembered. */
const maxRemembered = 10_000;
/** Deliveries that are moved at once: a pause must not cost with each one that waits. */
const maxMoved = 500;

/**
 * Pauses endpoints that fail again and again: one update moves the due deliveries of such an
 * endpoint to the end of the pause, without an attempt each. When they are very many, the first
 * ones are moved, and the others are left out of looks. Then one delivery is attempted at a time,
 * until one is delivered.
 */
export class Breaker {
  readonly #parts: BreakerParts;
  readonly #failing = new Map<string, HealthRecord>();
  /** Endpoints with more due deliveries than were moved. */
  readonly #crowded = new Set<string>();
  #loading: Promise<void> | undefined;

  constructor(parts: BreakerParts) {
    this.#parts = parts;
  }

  /** Reads once which endpoints are paused, as an earlier process or another one left it. */
  load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const stored = await this.#parts.health.find({ limit: maxRemembered });
    for (const { id, failures, pausedUntil } of stored) {
      if (!this.#failing.has(id)) this.#failing.set(id, { failures, pausedUntil });
    }
  }

  /** Whether an endpoint failed so often that it gets one attempt at a time. */
  isFailing(endpointId: string): boolean {
    return (this.#failing.get(endpointId)?.failures ?? 0) > tolerated;
  }

  /** Whether an endpoint gets no attempts now. */
  isPaused(endpointId: string): boolean {
    const { pausedUntil } = this.#failing.get(endpointId) ?? {};
    return pausedUntil !== undefined && pausedUntil > new Date().toISOString();
  }

  /** Paused endpoints that still have due deliveries. */
  crowded(): readonly string[] {
    return [...this.#crowded].filter((endpointId) => this.isPaused(endpointId));
  }

  /** Counts a failed attempt and begins a pause. Running ones then count as one. */
  async failed(endpointId: string): Promise<void> {
    if (this.isPaused(endpointId)) return;
    const failures = (this.#failing.get(endpointId)?.failures ?? 0) + 1;
    if (failures <= tolerated) return this.#remember(endpointId, { failures });
    const pause = Math.min(longestPause, this.#parts.schedule.delayAfter(failures - tolerated));
    const record = { failures, pausedUntil: new Date(Date.now() + pause).toISOString() };
    this.#remember(endpointId, record);
    await this.#parts.health.upsert(record, { id: endpointId });
    await this.moveDue(endpointId);
  }

  /** Ends the pause, because something was delivered. */
  async delivered(endpointId: string): Promise<void> {
    if (this.isFailing(endpointId)) return this.forget(endpointId);
    this.#failing.delete(endpointId);
    this.#crowded.delete(endpointId);
  }

  /** Ends the pause, because the endpoint was changed. */
  async forget(endpointId: string): Promise<void> {
    this.#failing.delete(endpointId);
    this.#crowded.delete(endpointId);
    await this.#parts.health.remove(endpointId);
  }

  /** Moves what is due for a paused endpoint to the end of its pause: at most 500 deliveries. */
  async moveDue(endpointId: string): Promise<void> {
    const { pausedUntil } = this.#failing.get(endpointId) ?? {};
    if (pausedUntil === undefined) return;
    // A delivery under way is due when its lease is over, and stays unchanged.
    const dueAt = { lte: new Date().toISOString() };
    const where = { endpointId, status: "pending", dueAt } as const;
    const { deliveries } = this.#parts;
    const due = await deliveries.find({ where, sort: ["dueAt"], limit: maxMoved, fields: [] });
    if (due.length < maxMoved) this.#crowded.delete(endpointId);
    else this.#crowded.add(endpointId);
    if (due.length === 0) return;
    const ids = due.map(({ id }) => id);
    await deliveries.updateMany({
      where: { ...where, id: { in: ids } },
      change: { dueAt: pausedUntil },
    });
  }

  #remember(endpointId: string, record: HealthRecord): void {
    this.#failing.delete(endpointId);
    this.#failing.set(endpointId, record);
    if (this.#failing.size <= maxRemembered) return;
    const [oldest] = this.#failing.keys();
    if (oldest === undefined) return;
    this.#failing.delete(oldest);
    this.#crowded.delete(oldest);
  }
}
