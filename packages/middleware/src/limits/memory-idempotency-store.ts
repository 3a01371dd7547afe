import { checkAmount, checkOptions } from "../check-options.ts";
import type { IdempotencyRecord, IdempotencyRun, IdempotencyStore } from "./idempotency-store.ts";

/** Options of {@link memoryIdempotencyStore}. */
export interface MemoryIdempotencyStoreOptions {
  /** Maximum number of stored responses. Beyond it the oldest is dropped. Default: `10_000`. */
  readonly maxKeys?: number | undefined;
  /** Approximate maximum bytes of stored responses; the oldest go. Default: 64 MiB. */
  readonly maxBytes?: number | undefined;
  /** A monotonic clock, in milliseconds. Default: `performance.now`. */
  readonly now?: (() => number) | undefined;
}

interface Running extends IdempotencyRun {
  readonly until: number;
}

interface Done extends IdempotencyRecord {
  readonly until: number;
  readonly size: number;
}

/**
 * Makes a store in the memory of this process. Several processes need a common {@link
 * IdempotencyStore}.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function memoryIdempotencyStore(
  options: MemoryIdempotencyStoreOptions = {},
): IdempotencyStore {
  checkOptions("memoryIdempotencyStore", options, ["maxKeys", "maxBytes", "now"]);
  const { maxKeys = 10_000, maxBytes = 67_108_864, now = () => performance.now() } = options;
  checkAmount(maxKeys, "maxKeys", 1);
  checkAmount(maxBytes, "maxBytes", 0);
  const running = new Map<string, Running>();
  const done = new Map<string, Done>();
  let bytes = 0;

  const forget = (key: string): void => {
    bytes -= done.get(key)?.size ?? 0;
    done.delete(key);
  };
  const owns = (key: string, run: IdempotencyRun): boolean => running.get(key)?.owner === run.owner;

  return {
    begin(key, { fingerprint, owner, lockFor }) {
      const time = now();
      const finished = done.get(key);
      if (finished !== undefined && finished.until > time) return Promise.resolve(finished);
      if (finished !== undefined) forget(key);
      const other = running.get(key);
      if (other !== undefined && other.until > time) {
        return Promise.resolve({ fingerprint: other.fingerprint });
      }
      // Deleted and set again, a key becomes the last, so the expired ones are the first.
      running.delete(key);
      for (const [oldest, { until }] of running) {
        if (until > time) break;
        running.delete(oldest);
      }
      running.set(key, { fingerprint, owner, until: time + lockFor });
      return Promise.resolve(undefined);
    },
    complete(key, run) {
      const time = now();
      const isFinished = (done.get(key)?.until ?? -Infinity) > time;
      if (isFinished || (running.has(key) && !owns(key, run))) return Promise.resolve();
      running.delete(key);
      const { response, fingerprint } = run;
      const size = key.length + 500 + (response.body?.length ?? 0) + sizeOf(response.headers);
      forget(key);
      done.set(key, { fingerprint, response, until: time + run.keepFor, size });
      bytes += size;
      for (const [oldest, { until }] of done) {
        if (until > time && done.size <= maxKeys && bytes <= maxBytes) break;
        forget(oldest);
      }
      return Promise.resolve();
    },
    abandon(key, run) {
      if (owns(key, run)) running.delete(key);
      return Promise.resolve();
    },
  };
}

function sizeOf(headers: readonly (readonly [string, string])[]): number {
  return headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
}
