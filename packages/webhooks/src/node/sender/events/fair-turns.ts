/** Milliseconds between events of a tenant: more than storing deliveries takes. */
const spacing = 20;
/** Tenants that are remembered before those are forgotten whose turns are over. */
const maxRemembered = 1_000;

/** Takes the events of tenants in turn, so that the many of one do not delay another's few. */
export class FairTurns {
  readonly #last = new Map<string | undefined, number>();

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
