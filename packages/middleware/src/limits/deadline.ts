import { HandlerTimeoutError } from "../errors.ts";

/** A point in time. Its timer starts with the first {@link Deadline.watch}, not before. */
export class Deadline {
  readonly #milliseconds: number;
  readonly #end: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #listener: ((error: HandlerTimeoutError) => void) | undefined;

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds;
    this.#end = performance.now() + milliseconds;
    this.#timer = undefined;
    this.#listener = undefined;
  }

  /** Calls the listener at the deadline, instead of the one before. */
  watch(listener: (error: HandlerTimeoutError) => void): void {
    this.#listener = listener;
    this.#timer ??= setTimeout(
      () => this.#listener?.(new HandlerTimeoutError(this.#milliseconds)),
      Math.max(0, this.#end - performance.now()),
    );
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
