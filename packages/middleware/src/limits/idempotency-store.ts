/** A response that can be sent again. */
export interface StoredAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64; null when the body was too large or never ended, and so cannot be sent again. */
  readonly body: string | null;
}

/** What is known about a key. */
export interface IdempotencyRecord {
  /** Digest of the request that came first. */
  readonly fingerprint: string;
  /** Its answer; absent while it runs. */
  readonly answer?: StoredAnswer | undefined;
}

/** A request that runs under a key. */
export interface IdempotencyRun {
  readonly fingerprint: string;
  /** Tells this run from others under the same key. */
  readonly owner: string;
}

/** Keeps answers for `idempotency`. Its keys are digests. */
export interface IdempotencyStore {
  /**
   * Takes a key for a run, in one step, whoever else tries. Resolves to what is known about the key when somebody has it,
   * else to `undefined`. The key falls free after `lockFor` milliseconds, should the process end before it is done.
   */
  begin(
    key: string,
    run: IdempotencyRun & { readonly lockFor: number },
  ): Promise<IdempotencyRecord | undefined>;
  /** Puts the answer in the place of the run, for `keepFor` milliseconds, unless another run has the key by now. */
  complete(
    key: string,
    run: IdempotencyRun & { readonly answer: StoredAnswer; readonly keepFor: number },
  ): Promise<void>;
  /** Frees the key, if the run still has it. */
  abandon(key: string, run: IdempotencyRun): Promise<void>;
}
