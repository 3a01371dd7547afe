/** Who tries. */
export interface AttemptBy {
  /** Name of the account that is tried, whether there is one or not; such as an email. */
  readonly account: string;
  /** Address of the client, as no client can choose it. Default: none is known. */
  readonly address?: string | undefined;
  /** Attempts that the client's network may have under way at once. Default: any number. */
  readonly atOnce?: number | undefined;
}

/** An attempt that may be made. */
export interface SignInAttempt {
  /** Says what became of it, once; `neither` counts for nothing, as when the server was at fault. */
  end(outcome: "success" | "failure" | "neither"): Promise<void>;
}

/** Slows guessing down. */
export interface AttemptLimiter {
  /**
   * Counts an attempt. Two of an account go on at once, the others wait for them.
   *
   * @throws Problem 429 with `Retry-After` when it may not be made now, 503 when 200 of that account wait already.
   */
  begin(by: AttemptBy): Promise<SignInAttempt>;
  /** Forgets the failures of an account, and those from the network of the address, as after a new password. */
  forget(by: Pick<AttemptBy, "account" | "address">): Promise<void>;
}
