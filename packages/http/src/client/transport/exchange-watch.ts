/** How long the other side may be silent. */
export interface SilenceLimit {
  /** 0 for no limit. */
  readonly milliseconds: number;
  /** Makes the reason of the abort. */
  readonly error: () => unknown;
}

/** Why a finished exchange is aborted; one error for all, because making one is expensive. */
const over = new Error("the exchange is over");

/** Ends an exchange when the other side is silent for too long, or when the caller aborts. */
export class ExchangeWatch {
  readonly #limit: SilenceLimit | undefined;
  readonly #caller: AbortSignal | undefined;
  readonly #controller: AbortController | undefined;
  readonly #abort = (): void => this.#controller?.abort(this.#caller?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param limit - Without it and without a caller's signal the exchange may last without end.
   * @throws the reason of the caller's signal when that is aborted already
   */
  constructor(caller: AbortSignal | null | undefined, limit: SilenceLimit | undefined) {
    caller?.throwIfAborted();
    this.#limit = limit;
    this.#caller = caller ?? undefined;
    if (limit !== undefined || this.#caller !== undefined) this.#controller = new AbortController();
    this.#caller?.addEventListener("abort", this.#abort, { once: true });
  }

  /** Aborted when the exchange has to end; null when it may last without end. */
  get signal(): AbortSignal | null {
    return this.#controller?.signal ?? null;
  }

  /** Begins to wait for the other side, again if it was waiting. */
  start(limit: SilenceLimit | undefined = this.#limit): void {
    this.stop();
    if (limit === undefined || limit.milliseconds === 0) return;
    this.#timer = setTimeout(() => this.end(limit.error()), limit.milliseconds);
  }

  /** Waits for the other side no longer. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Leaves no timer and no listener behind. */
  release(): void {
    this.stop();
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  /** Ends the exchange. */
  end(reason: unknown): void {
    this.#controller?.abort(reason);
  }

  /**
   * Releases what the platform keeps for the signal until a full garbage collection, which costs a
   * tenth of a request. Only for a response of the platform that was read completely, so that
   * nothing else ends.
   */
  dispose(): void {
    this.release();
    this.end(over);
  }
}

/** Callbacks and limits while a body is received. */
export interface BodyWatch {
  /** How long each piece may take. Default: the limit of the exchange. */
  readonly limit?: SilenceLimit | undefined;
  /** Called with each piece; what it throws is the failure of the body. */
  readonly onPiece?: ((piece: Uint8Array) => void) | undefined;
  /** Called once, when the body has failed, was cancelled, or was read completely. */
  readonly onEnd?: ((isComplete: boolean) => void) | undefined;
  /** Makes the error of a body that fails. */
  readonly toFailure: (error: unknown) => unknown;
}

/** Passes a body on; it fails when the next piece is late or the exchange has to end. */
export function watchBody(
  source: ReadableStream<Uint8Array<ArrayBuffer>>,
  watch: ExchangeWatch,
  { limit, onPiece, onEnd, toFailure }: BodyWatch,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = source.getReader();
  const { signal } = watch;
  let hasEnded = false;
  const end = (isComplete: boolean): void => {
    if (hasEnded) return;
    hasEnded = true;
    watch.release();
    onEnd?.(isComplete);
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      start(controller) {
        // A body may go on after its signal is aborted.
        const abort = (): void => {
          if (hasEnded) return;
          controller.error(toFailure(signal?.reason));
          reader.cancel(signal?.reason).catch(ignore);
          end(false);
        };
        signal?.addEventListener("abort", abort, { once: true });
      },
      async pull(controller) {
        watch.start(limit);
        try {
          const { done, value } = await reader.read();
          watch.stop();
          if (done) {
            end(true);
            controller.close();
            return;
          }
          onPiece?.(value);
          controller.enqueue(value);
        } catch (error) {
          controller.error(toFailure(error));
          end(false);
          watch.end(error);
          reader.cancel(error).catch(ignore);
        }
      },
      async cancel(reason) {
        end(false);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The receiver of the body gets the first error. */
function ignore(): void {}
