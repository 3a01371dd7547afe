/** How failed attempts slow down further ones. */
export interface AttemptRule {
  /** Failures that have no consequence. */
  readonly limit: number;
  /** Wait after the last attempt, once there are as many failures, in milliseconds; each further one doubles it. */
  readonly firstDelay: number;
  /** Longest wait, in milliseconds. */
  readonly maxDelay: number;
  /** Time after the last attempt when all are forgotten, in milliseconds. */
  readonly memory: number;
}

/** Keeps counts of attempts. Keys are texts of up to 400 characters. */
export interface AttemptStore {
  /**
   * Counts an attempt as failed until told otherwise, in one step, so that of many at once no more pass than the rule
   * lets. Gives 0, or the milliseconds to wait when it was refused, and not counted.
   */
  begin(key: string, rule: AttemptRule): number | Promise<number>;
  /** Counts one attempt less. */
  giveBack(key: string): void | Promise<void>;
  /** Forgets all attempts of a key. */
  forget(key: string): void | Promise<void>;
  /** Remembers that a key is trusted, for so many milliseconds. */
  trust(key: string, lifetime: number): void | Promise<void>;
  isTrusted(key: string): boolean | Promise<boolean>;
}

/** Attempts of one key. */
export interface Attempts {
  /** Those that failed, or have not ended yet. */
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
