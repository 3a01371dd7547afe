import type { ConsumerSource } from "../../changes/consume-changes.ts";
import type { Connection } from "./connection.ts";
import { loadPosition, readChanges, savePosition } from "./feed.ts";
import { dropLock, renewLock, takeLock } from "./locking.ts";

/** The way to the store's own tables. */
export interface OwnTables {
  look<R>(work: (connection: Connection) => R): Promise<R>;
  alter<R>(work: (connection: Connection) => R): Promise<R>;
}

/** Gives what following the feed and holding locks needs. */
export function createSource(
  tables: OwnTables,
  { closed, listeners }: { readonly closed: AbortSignal; readonly listeners: Set<() => void> },
): ConsumerSource {
  return {
    closed,
    readChanges: (query) => tables.look((connection) => readChanges(connection, query)),
    onRecorded: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    loadPosition: (name) => tables.look((connection) => loadPosition(connection, name)),
    savePosition: (name, position) =>
      tables.alter((connection) => {
        savePosition(connection, name, position);
      }),
    takeLock: (lock) => tables.alter((connection) => takeLock(connection, lock)),
    renewLock: (lock) => tables.alter((connection) => renewLock(connection, lock)),
    dropLock: (lock) =>
      tables.alter((connection) => {
        dropLock(connection, lock);
      }),
  };
}
