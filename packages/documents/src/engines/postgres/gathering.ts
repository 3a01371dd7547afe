/** What was asked for, and whom to tell. */
export interface Waiting<I, O> {
  readonly input: I;
  readonly resolve: (output: O) => void;
  readonly reject: (reason: unknown) => void;
}

/** Gathers what is asked for in one turn of the event loop, so that one statement does it. */
export class Gathering<I, O> {
  readonly #run: (waiting: readonly Waiting<I, O>[]) => void;
  readonly #sizeOf: (input: I) => number;
  readonly #maxSize: number;
  #waiting: Waiting<I, O>[] = [];
  #size = 0;

  /** Takes what does the work, and the sum of the sizes at which it does not wait for more. */
  constructor(
    run: (waiting: readonly Waiting<I, O>[]) => void,
    { sizeOf, maxSize }: { readonly sizeOf: (input: I) => number; readonly maxSize: number },
  ) {
    this.#run = run;
    this.#sizeOf = sizeOf;
    this.#maxSize = maxSize;
  }

  add(input: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      // It comes after everything that the promises of this turn still do.
      if (this.#waiting.length === 0) process.nextTick(() => this.#flush());
      this.#waiting.push({ input, resolve, reject });
      this.#size += this.#sizeOf(input);
      if (this.#size >= this.#maxSize) this.#flush();
    });
  }

  #flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0) return;
    this.#waiting = [];
    this.#size = 0;
    this.#run(waiting);
  }
}
