import { type Attempts, type AttemptStore, waitOf } from "./attempt-store.ts";

/**
 * Makes a store in the memory of this process. Several processes count each for itself.
 *
 * @param maxKeys - Keys that are kept at most, of attempts and of trust each; then the one of the oldest attempt is
 * forgotten. One takes about 300 bytes.
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
    giveBack(key) {
      const found = attempts.get(key);
      if (found === undefined) return;
      if (found.failures <= 1) attempts.delete(key);
      else attempts.set(key, { ...found, failures: found.failures - 1 });
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
