/** A response that can be sent again. */
export interface StoredResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [string, string])[];
  /** Base64; null when the body was not stored, because it was too large or never ended. */
  readonly body: string | null;
}

/** Record of a key in a store. */
export interface IdempotencyRecord {
  /** Digest of the first request. */
  readonly fingerprint: string;
  /** Its response; absent while it runs. */
  readonly response?: StoredResponse | undefined;
}

/** A request that runs under a key. */
export interface IdempotencyRun {
  /** Hash of the request; the same key with another one is refused. */
  readonly fingerprint: string;
  /** Distinguishes this run from others under the same key. */
  readonly owner: string;
}

/** Stores responses for `idempotency`. Its keys are digests. */
export interface IdempotencyStore {
  /**
   * Takes a key for a run, atomically. Resolves to the record when the key is taken, else to
   * undefined. Should the process end before the run, the key is released after `lockFor`
   * milliseconds.
   */
  begin(
    key: string,
    run: IdempotencyRun & { readonly lockFor: number },
  ): Promise<IdempotencyRecord | undefined>;
  /** Replaces the run by its response for `keepFor` ms, unless the key was taken. */
  complete(
    key: string,
    run: IdempotencyRun & { readonly response: StoredResponse; readonly keepFor: number },
  ): Promise<void>;
  /** Releases the key, if the run still holds it. */
  abandon(key: string, run: IdempotencyRun): Promise<void>;
}
