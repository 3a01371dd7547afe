/** Health of an endpoint, as the attempts of this process have shown. */
type Health = "new" | "responsive" | "suspect";

/** Number of endpoints that are remembered; one that is forgotten counts as new. */
const maxRemembered = 10_000;
/** Milliseconds after which an attempt is slow: it waits, which costs a socket and no work. */
const slowAfter = 250;
/** Attempts under way for each place, slow ones included. */
const maxForPlace = 4;

interface Attempt {
  readonly endpointId: string;
  /** Milliseconds of `performance.now()`. */
  readonly begun: number;
}

/**
 * Decides how many attempts an endpoint may have at once, so that endpoints that hang leave places
 * for the others. An attempt takes a place until it ends or is slow.
 *
 * - A responsive endpoint has its full share; none while an attempt to it is slow and there are
 *   very many slow ones.
 * - A suspect one, whose last attempt timed out or whose first one is slow, has one attempt; all
 *   suspects together have as many as a quarter of the places.
 * - A new one, which has not responded yet, has one attempt; all new ones together have three
 *   quarters of the places.
 *
 * Any response that ends in time, whatever its status, makes an endpoint responsive.
 */
export class EndpointHealth {
  readonly #places: number;
  readonly #endpointConcurrency: number;
  /** Attempts that take a place, in the order in which they began. */
  readonly #fast = new Map<string, Attempt>();
  readonly #slow = new Map<string, Attempt>();
  /** Attempts under way by endpoint. */
  readonly #running = new Map<string, number>();
  /** Attempts under way by the health of their endpoint. */
  readonly #sums: Record<Health, number> = { new: 0, responsive: 0, suspect: 0 };
  /** Endpoints that are not new; the endpoint whose attempt ended last is the last one. */
  readonly #known = new Map<string, "responsive" | "suspect">();

  constructor(concurrency: number, endpointConcurrency: number) {
    this.#places = concurrency;
    this.#endpointConcurrency = endpointConcurrency;
  }

  /** Returns the number of attempts under way to an endpoint. */
  running(endpointId: string): number {
    return this.#running.get(endpointId) ?? 0;
  }

  /** Returns how many more attempts there may be. */
  places(): number {
    const all = this.#fast.size + this.#slow.size;
    return Math.min(this.#places - this.#fast.size, this.#places * maxForPlace - all);
  }

  /** Returns how many more attempts the endpoint may have. */
  room(endpointId: string): number {
    const health = this.#healthOf(endpointId);
    const running = this.running(endpointId);
    if (health === "new") return Math.min(1 - running, this.#left("new", 3 / 4));
    if (health === "suspect") return Math.min(1 - running, this.#left("suspect", 1 / 4));
    const isFull = this.#slow.size >= this.#places && this.#isSlow(endpointId);
    return Math.min(isFull ? 0 : this.#endpointConcurrency - running, this.places());
  }

  /** Counts an attempt that begins. */
  begin(deliveryId: string, endpointId: string): void {
    this.#fast.set(deliveryId, { endpointId, begun: performance.now() });
    this.#count(endpointId, 1);
  }

  /** Counts an attempt that has ended. */
  end(deliveryId: string): void {
    const attempt = this.#fast.get(deliveryId) ?? this.#slow.get(deliveryId);
    if (attempt === undefined) return;
    this.#fast.delete(deliveryId);
    this.#slow.delete(deliveryId);
    this.#count(attempt.endpointId, -1);
  }

  /** Moves slow attempts' places to others. Returns ms until the next is slow, if any. */
  age(now: number = performance.now()): number | undefined {
    for (const [deliveryId, attempt] of this.#fast) {
      const left = attempt.begun + slowAfter - now;
      if (left > 0) return left;
      this.#fast.delete(deliveryId);
      this.#slow.set(deliveryId, attempt);
      if (this.#healthOf(attempt.endpointId) === "new") this.note(attempt.endpointId, "timeout");
    }
    return undefined;
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

  /** How many more attempts all endpoints of a kind may have, which is a part of the places. */
  #left(health: Health, part: number): number {
    const maxPlaces = Math.max(1, Math.floor(this.#places * part));
    return Math.min(maxPlaces - this.#sums[health], this.places());
  }

  #isSlow(endpointId: string): boolean {
    for (const attempt of this.#slow.values()) if (attempt.endpointId === endpointId) return true;
    return false;
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
