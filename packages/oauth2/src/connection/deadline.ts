import { OAuth2TimeoutError } from "../errors.ts";

/** Why an exchange that is over is aborted; one for all, because making it costs more than the rest. */
const over = new Error("the exchange is over");

/** Ends an exchange when the server is silent for too long, or when the caller aborts. */
export class Deadline {
  readonly #milliseconds: number;
  readonly #caller: AbortSignal | undefined;
  readonly #controller: AbortController | undefined;
  readonly #abort = (): void => this.#controller?.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param milliseconds - 0 for no limit */
  constructor(milliseconds: number, caller: AbortSignal | null | undefined) {
    caller?.throwIfAborted();
    this.#milliseconds = milliseconds;
    this.#caller = caller ?? undefined;
    if (milliseconds > 0 || this.#caller !== undefined) this.#controller = new AbortController();
    this.#caller?.addEventListener("abort", this.#abort, { once: true });
  }

  /** Aborted when the exchange has to end; null when it may last for ever. */
  get signal(): AbortSignal | null {
    return this.#controller?.signal ?? null;
  }

  /** Begins to wait for the server, again if it was waiting. */
  start(): void {
    this.stop();
    if (this.#milliseconds === 0) return;
    this.#timer = setTimeout(
      () => this.#controller?.abort(new OAuth2TimeoutError(this.#milliseconds)),
      this.#milliseconds,
    );
  }

  /** Waits for the server no longer. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Leaves no timer and no listener behind. */
  release(): void {
    this.stop();
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  /**
   * Releases what the platform keeps for the signal until a full garbage collection, which costs a tenth of a request.
   * Only for a response that was read completely, so that nothing else ends.
   */
  dispose(): void {
    this.#controller?.abort(over);
  }
}
