/** The error of an abandoned attempt; an exchange that gets it anyway starts again. */
export const attemptAbandoned: Error = new Error("Nobody waits for this connection any more");

/**
 * Knows how many exchanges wait for a connection to one origin and which attempts to connect are
 * under way. Abandoned attempts are ended, so that they do not keep the process alive.
 */
export class ConnectionSite {
  #waiting = 0;
  readonly #attempts = new Set<() => void>();
  #stalledSince = 0;

  /** Whether nothing waits and no attempt is in progress. */
  get idle(): boolean {
    return this.#waiting === 0 && this.#attempts.size === 0;
  }

  /** Adds an exchange that is about to be handed to the pool. */
  join(): void {
    this.#waiting += 1;
  }

  /** Takes an exchange away that has its connection or has ended. */
  leave(): void {
    this.#waiting -= 1;
    if (this.#waiting > 0 || this.#attempts.size === 0) return;
    const attempts = [...this.#attempts];
    this.#attempts.clear();
    for (const cancel of attempts) cancel();
  }

  /** Notes an attempt; `cancel` ends it by {@link attemptAbandoned}. The result notes its end. */
  begin(cancel: () => void): (succeeded: "succeeded" | "failed") => void {
    if (this.#attempts.size === 0) this.#stalledSince = performance.now();
    this.#attempts.add(cancel);
    return (outcome) => {
      this.#attempts.delete(cancel);
      if (outcome === "succeeded") this.#stalledSince = performance.now();
    };
  }

  /**
   * Returns for how many milliseconds attempts were under way and none succeeded, while an exchange
   * waited. Time in a full pool's queue does not count.
   *
   * @param since - When the exchange began to wait.
   */
  stalledFor(since: number): number {
    if (this.#attempts.size === 0) return 0;
    return performance.now() - Math.max(since, this.#stalledSince);
  }
}

/** The sites of one pool of connections, by origin. */
export class ConnectionSites {
  readonly #sites = new Map<string, ConnectionSite>();
  /** True while a new connection is handed over: a request then has a fresh one. */
  handingOver = false;

  of(origin: string): ConnectionSite {
    let site = this.#sites.get(origin);
    if (site === undefined) {
      if (this.#sites.size >= maxSites) this.#forgetIdle();
      this.#sites.set(origin, (site = new ConnectionSite()));
    }
    return site;
  }

  #forgetIdle(): void {
    for (const [origin, site] of this.#sites) if (site.idle) this.#sites.delete(origin);
  }
}

const maxSites = 256;
