/** How failed attempts slow down further ones. */
export interface AttemptRule {
  /** Failures that have no consequence. */
  readonly limit: number;
  /** Milliseconds to wait after too many failures; each further one doubles it. */
  readonly firstDelay: number;
  /** Longest wait, in milliseconds. */
  readonly maxDelay: number;
  /** Time after the last attempt when all are forgotten, in milliseconds. */
  readonly memory: number;
}

/** Keeps counts of attempts. Keys are texts of up to 400 characters. */
export interface AttemptStore {
  /**
   * Counts an attempt as failed until told otherwise. That is one step, so many at once do not
   * exceed the rule. Returns 0, or the milliseconds to wait when it was refused, and not counted.
   */
  begin(key: string, rule: AttemptRule): number | Promise<number>;
  /** Counts a number of attempts less. */
  refund(key: string, count: number): void | Promise<void>;
  /** Forgets all attempts of a key. */
  forget(key: string): void | Promise<void>;
  /** Remembers that a key is trusted, for a number of milliseconds. */
  trust(key: string, lifetime: number): void | Promise<void>;
  /** Whether a key is trusted now. */
  isTrusted(key: string): boolean | Promise<boolean>;
}

/** Attempts of one key. */
export interface Attempts {
  /** Attempts that failed, or have not ended yet. */
  readonly failures: number;
  /** Time of the last one, in milliseconds since 1970. */
  readonly last: number;
}

/** Milliseconds until another attempt may be made. */
export function waitOf(attempts: Attempts | undefined, rule: AttemptRule, now: number): number {
  if (attempts === undefined || attempts.failures < rule.limit) return 0;
  const delay = rule.firstDelay * 2 ** Math.min(attempts.failures - rule.limit, 30);
  return Math.max(attempts.last + Math.min(delay, rule.maxDelay) - now, 0);
}

/**
 * Makes a store in the memory of this process. Several processes count each for itself.
 *
 * @param maxKeys - Keys that are kept at most, of attempts and of trust each; then the one of the
 * oldest attempt is forgotten. One takes about 300 bytes.
 */
export function memoryAttemptStore(maxKeys = 50_000): AttemptStore {
  // Both in the order of their last change, so the first is the oldest.
  const attempts = new Map<string, Attempts & { readonly end: number }>();
  const trusted = new Map<string, number>();

  return {
    begin(key, rule) {
      const now = Date.now();
      const known = attempts.get(key);
      const before = known !== undefined && known.end > now ? known : undefined;
      const wait = waitOf(before, rule, now);
      if (wait > 0) return wait;
      const failures = (before?.failures ?? 0) + 1;
      putLast(attempts, key, { failures, last: now, end: now + rule.memory });
      return 0;
    },
    refund(key, count) {
      const found = attempts.get(key);
      if (found === undefined) return;
      if (found.failures <= count) attempts.delete(key);
      else attempts.set(key, { ...found, failures: found.failures - count });
    },
    forget(key) {
      attempts.delete(key);
    },
    trust(key, lifetime) {
      putLast(trusted, key, Date.now() + lifetime);
    },
    isTrusted: (key) => (trusted.get(key) ?? 0) > Date.now(),
  };

  function putLast<T>(map: Map<string, T>, key: string, value: T): void {
    map.delete(key);
    map.set(key, value);
    const [oldest] = map.keys();
    if (map.size > maxKeys && oldest !== undefined) map.delete(oldest);
  }
}
