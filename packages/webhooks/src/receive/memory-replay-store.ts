import type { ReplayState, ReplayStore } from "./replay-store.ts";

/** Maximum number of deliveries; beyond it the oldest is forgotten. About 200 bytes each. */
const max = 100_000;

interface Entry {
  readonly state: "running" | "done";
  readonly until: number;
}

/** Remembers deliveries in the memory of one process; a restart forgets them. */
export function memoryReplayStore(): ReplayStore {
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
