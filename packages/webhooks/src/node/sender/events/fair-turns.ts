/** Milliseconds by which an event stands behind the previous one of its tenant: more than its deliveries take to store. */
const spacing = 20;
/** Tenants that are remembered before those are forgotten whose turns are over. */
const maxRemembered = 1_000;

/** Gives the events of each tenant their turns, so that the many of one do not delay the few of another. */
export class FairTurns {
  readonly #last: Map<string | undefined, number>;

  constructor() {
    this.#last = new Map();
  }

  /** Returns the time by which an event takes its turn, in milliseconds since 1970. */
  next(tenant: string | undefined): number {
    const now = Date.now();
    const turn = Math.max(now, (this.#last.get(tenant) ?? 0) + spacing);
    if (this.#last.size >= maxRemembered) this.#forget(now);
    this.#last.set(tenant, turn);
    return turn;
  }

  #forget(now: number): void {
    for (const [tenant, turn] of this.#last) if (turn + spacing < now) this.#last.delete(tenant);
  }
}
