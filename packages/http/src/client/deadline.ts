import { pause as wait } from "@fetchwork/kit";
import { redactUrl } from "./transport/redact-url.ts";
import { AbortError, TimeoutError } from "./transport/transport-errors.ts";

/** Ends all that belongs to a request, when its total time is over or its caller wants it. */
export class Deadline {
  readonly #limit: number;
  readonly #endsAt: number;
  readonly #controller: AbortController;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort: () => void;
  #isOver = false;

  constructor(limit: number, outer: AbortSignal | undefined) {
    this.#limit = limit;
    this.#endsAt = performance.now() + limit;
    this.#controller = new AbortController();
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      this.#controller.abort();
    }, limit);
    this.#onAbort = (): void => this.#controller.abort(outer?.reason);
    if (outer?.aborted === true) this.#onAbort();
    else outer?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Fires for both reasons. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Milliseconds that are left. */
  get remaining(): number {
    return this.#endsAt - performance.now();
  }

  /** Returns the meaning of an error: an abort after the time was over is a timeout. */
  explain(
    error: unknown,
    { method, url }: { readonly method: string; readonly url: URL },
  ): unknown {
    if (!this.#isOver || !(error instanceof AbortError)) return error;
    return new TimeoutError("total", this.#limit, { method, url: redactUrl(url) });
  }

  /** Leaves no timer and no listener behind. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }
}

/** Waits; an abort ends it with an `AbortError`. */
export async function pause(
  delay: number,
  signal: AbortSignal | undefined,
  { method, url }: { readonly method: string; readonly url: URL },
): Promise<void> {
  try {
    await wait(delay, signal);
  } catch (cause) {
    throw new AbortError({ method, url: redactUrl(url), cause });
  }
}
