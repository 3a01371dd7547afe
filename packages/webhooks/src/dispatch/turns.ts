/** A counting semaphore with a bounded queue: first come, first served. */
export class Turns {
  readonly #backlog: number;
  readonly #waiting: (() => void)[] = [];
  #next = 0;
  #free: number;

  constructor(limit: number, backlog: number) {
    this.#free = limit;
    this.#backlog = backlog;
  }

  /** Tells whether so many can start or wait. */
  hasRoomFor(amount: number): boolean {
    return this.#waiting.length - this.#next + amount <= this.#free + this.#backlog;
  }

  /** Takes a place now, or returns a promise of one. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Gives a place to whoever waits longest, or back. */
  give(): void {
    const start = this.#waiting[this.#next];
    if (start === undefined) {
      this.#free += 1;
      return;
    }
    this.#next += 1;
    // Cut now and then, as `shift` would move the whole queue each time.
    if (this.#next === 1024 || this.#next === this.#waiting.length) {
      this.#waiting.splice(0, this.#next);
      this.#next = 0;
    }
    start();
  }
}
