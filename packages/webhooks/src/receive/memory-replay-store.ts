import { checkInteger, checkOptions } from "../check-options.ts";
import type { ReplayState, ReplayStore } from "./replay-store.ts";

/** Options of {@link memoryReplayStore}. */
interface MemoryReplayStoreOptions {
  /** Maximum number of deliveries; beyond it the oldest is forgotten. Default: `100_000`. */
  readonly max?: number | undefined;
}

interface Entry {
  readonly state: "running" | "done";
  readonly until: number;
}

/**
 * Remembers deliveries in the memory of one process; a restart forgets them. About 200 bytes each.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function memoryReplayStore(options: MemoryReplayStoreOptions = {}): ReplayStore {
  checkOptions("memoryReplayStore", options, ["max"]);
  const { max = 100_000 } = options;
  checkInteger("max", max, 1);
  // In the order in which they were written.
  const entries = new Map<string, Entry>();
  const write = (key: string, entry: Entry): void => {
    entries.delete(key);
    entries.set(key, entry);
    const time = Date.now();
    for (const [oldest, { until }] of entries) {
      if (until > time && entries.size <= max) return;
      entries.delete(oldest);
    }
  };
  return {
    claim: (key, lease): ReplayState => {
      const time = Date.now();
      const known = entries.get(key);
      if (known !== undefined && known.until > time) return known.state;
      write(key, { state: "running", until: time + lease });
      return "new";
    },
    renew: (key, lease) => write(key, { state: "running", until: Date.now() + lease }),
    complete: (key, keepFor) => write(key, { state: "done", until: Date.now() + keepFor }),
    release: (key) => {
      entries.delete(key);
    },
  };
}
