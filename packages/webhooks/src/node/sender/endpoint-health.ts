/** What the attempts of this process have shown about an endpoint. */
type Health = "new" | "responsive" | "suspect";

/** Number of endpoints that are remembered; one that is forgotten counts as new. */
const maxRemembered = 10_000;

/**
 * Decides how many attempts an endpoint may have at once, so that endpoints that hang leave places for the others:
 *
 * - A responsive endpoint has its full share.
 * - A suspect one, whose last attempt timed out, has one place; all suspects together have a quarter of the places.
 * - A new one, which has not responded yet, has one place; all new ones together have half of the places. Otherwise many
 *   endpoints could take all places before the first attempt times out.
 *
 * Any response that ends in time, whatever its status, makes an endpoint responsive.
 */
export class EndpointHealth {
  /** Maximum number of attempts to the endpoints of each kind. */
  readonly #limits: Readonly<Record<Health, number>>;
  readonly #endpointConcurrency: number;
  /** Attempts under way by endpoint. */
  readonly #running: Map<string, number>;
  /** Attempts under way by the health of their endpoint. */
  readonly #sums: Record<Health, number>;
  /** What is not new; the endpoint whose attempt ended last is the last one. */
  readonly #known: Map<string, "responsive" | "suspect">;

  constructor(concurrency: number, endpointConcurrency: number) {
    this.#limits = {
      responsive: concurrency,
      new: Math.max(1, Math.floor(concurrency / 2)),
      suspect: Math.max(1, Math.floor(concurrency / 4)),
    };
    this.#endpointConcurrency = endpointConcurrency;
    this.#running = new Map();
    this.#sums = { new: 0, responsive: 0, suspect: 0 };
    this.#known = new Map();
  }

  /** Returns the number of attempts under way. */
  running(endpointId: string): number {
    return this.#running.get(endpointId) ?? 0;
  }

  /** Returns how many more attempts the endpoint may have. */
  room(endpointId: string): number {
    const health = this.#healthOf(endpointId);
    const ownLimit = health === "responsive" ? this.#endpointConcurrency : 1;
    const own = ownLimit - this.running(endpointId);
    return Math.min(own, this.#limits[health] - this.#sums[health]);
  }

  /** Counts an attempt that begins. */
  begin(endpointId: string): void {
    this.#count(endpointId, 1);
  }

  /** Counts an attempt that has ended. */
  end(endpointId: string): void {
    this.#count(endpointId, -1);
  }

  /** Remembers that the endpoint responded, or that an attempt timed out. */
  note(endpointId: string, outcome: "response" | "timeout"): void {
    const running = this.running(endpointId);
    this.#sums[this.#healthOf(endpointId)] -= running;
    this.#known.delete(endpointId);
    this.#known.set(endpointId, outcome === "response" ? "responsive" : "suspect");
    this.#sums[this.#healthOf(endpointId)] += running;
    if (this.#known.size > maxRemembered) this.#forgetIdle();
  }

  #healthOf(endpointId: string): Health {
    return this.#known.get(endpointId) ?? "new";
  }

  #count(endpointId: string, change: number): void {
    const running = this.running(endpointId) + change;
    if (running > 0) this.#running.set(endpointId, running);
    else this.#running.delete(endpointId);
    this.#sums[this.#healthOf(endpointId)] += change;
  }

  /** Forgets the endpoint that has been idle for longest. */
  #forgetIdle(): void {
    for (const endpointId of this.#known.keys()) {
      if (this.#running.has(endpointId)) continue;
      this.#known.delete(endpointId);
      return;
    }
  }
}
