import type { Context, ContextKey } from "@fetchwork/http";
import type { FinishListener } from "@fetchwork/http/internal";

/** A context whose signal also aborts at a deadline, or follows another one. */
export class DeadlineContext implements Context {
  readonly #outer: Context;
  readonly #source: { readonly signal: AbortSignal };
  #controller: AbortController | undefined;
  #reason: unknown;
  #unlink: (() => void) | undefined;

  /** @param source - What the signal follows. Default: the outer context. */
  constructor(outer: Context, source: { readonly signal: AbortSignal } = outer) {
    this.#outer = outer;
    this.#source = source;
  }

  /** Made at the first use: `AbortSignal.any()` costs more than most handlers. */
  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal;
    const controller = new AbortController();
    this.#controller = controller;
    const { signal: outer } = this.#source;
    if (this.#reason !== undefined) controller.abort(this.#reason);
    else if (outer.aborted) controller.abort(outer.reason);
    else {
      const onAbort = (): void => controller.abort(outer.reason);
      outer.addEventListener("abort", onAbort);
      this.#unlink = () => outer.removeEventListener("abort", onAbort);
    }
    return controller.signal;
  }

  /** Aborts the signal, unless the outer one did. */
  expire(reason: unknown): void {
    this.#reason = reason;
    this.release();
    this.#controller?.abort(reason);
  }

  /** Stops listening to the outer signal, which may live much longer. */
  release(): void {
    this.#unlink?.();
    this.#unlink = undefined;
  }

  get peer(): string | undefined {
    return this.#outer.peer;
  }

  get ip(): string | undefined {
    return this.#outer.ip;
  }

  set ip(value: string | undefined) {
    this.#outer.ip = value;
  }

  get requestId(): string | undefined {
    return this.#outer.requestId;
  }

  set requestId(value: string | undefined) {
    this.#outer.requestId = value;
  }

  get startedAt(): number {
    return this.#outer.startedAt;
  }

  get params(): Readonly<Record<string, string>> {
    return this.#outer.params;
  }

  set params(value: Readonly<Record<string, string>>) {
    this.#outer.params = value;
  }

  waitUntil(promise: Promise<unknown>): void {
    this.#outer.waitUntil(promise);
  }

  onFinish(listener: FinishListener): void {
    this.#outer.onFinish(listener);
  }

  get<T>(key: ContextKey<T>): T | undefined {
    return this.#outer.get(key);
  }

  set<T>(key: ContextKey<T>, value: T): void {
    this.#outer.set(key, value);
  }
}
