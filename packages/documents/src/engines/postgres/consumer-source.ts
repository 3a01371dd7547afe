import type { ConsumerSource } from "../../changes/consume-changes.ts";
import { loadPosition, readChanges, savePosition } from "./feed.ts";
import { dropLock, renewLock, takeLock } from "./locking.ts";
import type { Session } from "./session.ts";

/** What consumers need of a store. */
export interface Consumed {
  readonly closed: AbortSignal;
  /** Calls the listener when a change may have been written; gives what ends that. */
  readonly listen: (listener: () => void) => () => void;
  readonly isDistributed: () => boolean;
  /** Works with the store's own tables. */
  readonly own: <R>(work: (session: Session) => Promise<R>) => Promise<R>;
}

/** Gives the feed, the positions of its consumers and their locks. */
export function createSource({ closed, listen, isDistributed, own }: Consumed): ConsumerSource {
  return {
    closed,
    readChanges: (query) =>
      own((session) => readChanges(session, query, { isDistributed: isDistributed() })),
    onRecorded: listen,
    loadPosition: (name) => own((session) => loadPosition(session, name)),
    savePosition: (name, position) => own((session) => savePosition(session, name, position)),
    takeLock: (lock) => own((session) => takeLock(session, lock)),
    renewLock: (lock) => own((session) => renewLock(session, lock)),
    dropLock: (lock) => own((session) => dropLock(session, lock)),
  };
}
