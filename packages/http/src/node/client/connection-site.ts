/** An exchange that has no connection yet. */
export interface Waiting {
  /** Milliseconds it allows for a connection; 0 means no limit. */
  readonly connectTimeout: number;
  /** When it began to wait; set by the site, 0 before the first attempt. */
  waitingSince: number;
  /** Called once, when its time is over. */
  connectTimedOut(): void;
}

/** The error of an abandoned attempt; an exchange that gets it anyway starts again. */
export const attemptAbandoned: Error = new Error("Nobody waits for this connection any more");

/**
 * Knows which exchanges wait for a connection to one origin and which attempts to connect are under
 * way. An exchange is told that its time is over when for so long attempts were under way and none
 * succeeded; time in a full pool's queue does not count. Abandoned attempts are ended, so that they
 * do not keep the process alive.
 */
export class ConnectionSite {
  readonly #waiting = new Set<Waiting>();
  readonly #attempts = new Set<() => void>();
  #stalledSince = 0;
  #shortest = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;

  /** Whether nothing waits and no attempt is in progress. */
  get idle(): boolean {
    return this.#waiting.size === 0 && this.#attempts.size === 0;
  }

  /** Adds an exchange that is about to be handed to the pool. */
  join(waiting: Waiting): void {
    this.#waiting.add(waiting);
    const limit = waiting.connectTimeout || Infinity;
    if (limit < this.#shortest) this.#shortest = limit;
    if (this.#attempts.size === 0) {
      waiting.waitingSince = 0;
    } else {
      waiting.waitingSince = performance.now();
      this.#wake(waiting.waitingSince + limit);
    }
  }

  /** Takes an exchange away that has its connection or has ended. */
  leave(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting) || this.#waiting.size > 0) return;
    this.#shortest = Infinity;
    if (this.#attempts.size > 0) this.#abandon();
  }

  /** Notes an attempt; `cancel` ends it by {@link attemptAbandoned}. The result notes its end. */
  begin(cancel: () => void): (succeeded: "succeeded" | "failed") => void {
    if (this.#attempts.size === 0) {
      this.#stalledSince = performance.now();
      this.#wake(this.#stalledSince + this.#shortest);
    }
    this.#attempts.add(cancel);
    return (outcome) => {
      if (!this.#attempts.delete(cancel)) return;
      if (this.#attempts.size === 0) this.#sleep();
      else if (outcome === "succeeded") this.#stalledSince = performance.now();
    };
  }

  #abandon(): void {
    const attempts = [...this.#attempts];
    this.#attempts.clear();
    this.#sleep();
    for (const cancel of attempts) cancel();
  }

  #wake(due: number): void {
    if (due >= this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.#sweep(), Math.max(1, Math.ceil(due - performance.now())));
  }

  #sleep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#due = Infinity;
  }

  #sweep(): void {
    this.#sleep();
    const now = performance.now();
    let next = Infinity;
    for (const waiting of this.#waiting) {
      const since = Math.max(waiting.waitingSince, this.#stalledSince);
      const due = since + (waiting.connectTimeout || Infinity);
      if (due <= now) waiting.connectTimedOut();
      else if (due < next) next = due;
    }
    if (this.#attempts.size > 0) this.#wake(next);
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
