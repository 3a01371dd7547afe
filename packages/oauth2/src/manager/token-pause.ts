import { backoffDelay, requestedDelay } from "@fetchwork/kit";
import type { AccessToken } from "../token/access-token.ts";
import { OAuth2Error, OAuth2UsageError } from "../errors.ts";

/** Pause after the first failure, in milliseconds; it doubles with each further one. */
const baseDelay = 1000;
/** Maximum pause that no server asked for, in milliseconds. */
const maxDelay = 60_000;
/** Maximum pause that a server can ask for, in milliseconds. */
const maxRequestedPause = 86_400_000;

/**
 * Holds token requests back after one that failed: until the time that its `Retry-After` names, else for a second, and
 * twice as long after each further failure.
 */
export class TokenPause {
  readonly #clock: () => number;
  #failures = 0;
  #until = -Infinity;
  #reason: { readonly error: unknown } | undefined;

  /** @param clock - Returns milliseconds since the epoch. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** Whether the last request led to a token that is of no use, and it is too early for another one. */
  get hasUselessToken(): boolean {
    return this.#reason === undefined && this.#clock() < this.#until;
  }

  /**
   * Runs a token request.
   *
   * @throws the error of the request; that of the last one when it is too early for another
   */
  async run(request: () => Promise<AccessToken>): Promise<AccessToken> {
    if (this.#reason !== undefined && this.#clock() < this.#until) throw this.#reason.error;
    try {
      return await request();
    } catch (error) {
      // Nothing was sent, or a new refresh token may be there at once.
      const isOther = error instanceof OAuth2UsageError || isInvalidGrant(error);
      if (!isOther) this.#begin(this.#clock() + this.#length(error), { error });
      throw error;
    }
  }

  /** Begins a pause after a token that had expired on arrival, or does not live as long as it has to. */
  useless({ expiresAt = 0 }: AccessToken): void {
    const now = this.#clock();
    const end = Math.max(expiresAt * 1000, now);
    this.#begin(end > now ? Math.min(now + this.#length(), end) : now + this.#length(), undefined);
  }

  /** Ends the pause: there is a valid token, or another one was stored. */
  end(): void {
    this.#failures = 0;
    this.#until = -Infinity;
    this.#reason = undefined;
  }

  #begin(until: number, reason: { readonly error: unknown } | undefined): void {
    this.#failures += 1;
    this.#until = until;
    this.#reason = reason;
  }

  #length(error?: unknown): number {
    const headers = error instanceof OAuth2Error ? error.response?.headers : undefined;
    const asked = headers === undefined ? undefined : requestedDelay(headers, this.#clock());
    if (asked !== undefined && asked > 0) return Math.min(asked, maxRequestedPause);
    // Without jitter: one manager holds back all callers of a process.
    return backoffDelay(this.#failures + 1, { baseDelay, maxDelay, jitter: [1, 1] });
  }
}

/** Whether the server refused a refresh token or another grant for good (RFC 6749, 5.2). */
export function isInvalidGrant(error: unknown): error is OAuth2Error {
  return error instanceof OAuth2Error && error.code === "invalid_grant";
}
