import { backoffDelay, requestedDelay } from "@fetchwork/kit";
import type { AccessToken } from "../token/access-token.ts";
import { OAuth2ConnectionError, OAuth2Error, OAuth2UsageError } from "../errors.ts";
import { raceSignal } from "./race-signal.ts";

/** Pause after the first failure, in milliseconds; it doubles with each further one. */
const baseDelay = 100;
/** Maximum pause that no server asked for, in milliseconds. */
const maxDelay = 30_000;
/** Maximum pause that a server can ask for, in milliseconds. */
const maxRequestedPause = 60_000;

/**
 * Delays token requests after one that failed: for the time that its `Retry-After` names, else for
 * 100 ms, and twice as long after each further failure. Measured by the monotonic clock, so that a
 * step of the system's clock changes nothing.
 */
export class TokenPause {
  readonly #clock: () => number;
  readonly #waiting = new Set<() => void>();
  #failures = 0;
  #until = -Infinity;
  #reason: { readonly error: unknown } | undefined;

  /** @param clock - Returns milliseconds since the epoch, for what a server names as a date. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Milliseconds until the next request may be sent, 0 or less for now. */
  get remaining(): number {
    return this.#until - performance.now();
  }

  /** Whether the last request led to a useless token, and it is too early for another one. */
  get hasUselessToken(): boolean {
    return this.#reason === undefined && this.remaining > 0;
  }

  /** Whether waiting may help: the last request failed so, the next may succeed. */
  delays(error: unknown): boolean {
    return this.#reason?.error === error && isTemporary(error);
  }

  /**
   * Runs a token request.
   *
   * @throws the error of the request; that of the last one when it is too early for another
   */
  async run(request: () => Promise<AccessToken>): Promise<AccessToken> {
    if (this.#reason !== undefined && this.remaining > 0) throw this.#reason.error;
    try {
      return await request();
    } catch (error) {
      // Nothing was sent, or a new refresh token may be there at once.
      const isOther = error instanceof OAuth2UsageError || isInvalidGrant(error);
      if (!isOther) this.#begin(this.#length(error), { error });
      throw error;
    }
  }

  /**
   * Waits for the end of the pause.
   *
   * @throws the reason of the signal
   */
  async wait(signal: AbortSignal | null | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    const timer = setTimeout(resolve, Math.ceil(Math.max(this.remaining, 0)));
    try {
      await raceSignal(promise, signal);
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(resolve);
    }
  }

  /** Begins a pause after a token that had expired on arrival, or lives shorter than required. */
  useless({ expiresAt = 0 }: AccessToken): void {
    const lifetime = expiresAt * 1000 - this.#clock();
    this.#begin(lifetime > 0 ? Math.min(this.#length(), lifetime) : this.#length(), undefined);
  }

  /** Ends the pause: there is a valid token, or another one was stored. */
  end(): void {
    this.#failures = 0;
    this.#until = -Infinity;
    this.#reason = undefined;
    for (const wake of this.#waiting) wake();
  }

  #begin(length: number, reason: { readonly error: unknown } | undefined): void {
    this.#failures += 1;
    this.#until = performance.now() + length;
    this.#reason = reason;
  }

  #length(error?: unknown): number {
    const response = error instanceof OAuth2Error ? error.response : undefined;
    const asked = response === undefined ? undefined : requestedDelay(response, this.#clock());
    if (asked !== undefined && asked > 0) return Math.min(asked, maxRequestedPause);
    // Without jitter: one manager holds back all callers of a process.
    return backoffDelay(this.#failures + 1, { baseDelay, maxDelay, jitter: [1, 1] });
  }
}

/** Whether the server refused a refresh token or another grant for good (RFC 6749, 5.2). */
export function isInvalidGrant(error: unknown): error is OAuth2Error {
  return error instanceof OAuth2Error && error.code === "invalid_grant";
}

/** Whether the same request may succeed a little later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof OAuth2ConnectionError) return true;
  const status = error instanceof OAuth2Error ? (error.status ?? 0) : 0;
  return status >= 500 || status === 408 || status === 429;
}
