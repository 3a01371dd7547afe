import { createHash } from "node:crypto";
import type { ChangeRecord, CollectionDefinition, Store, Stored } from "@fetchwork/documents";
import { backoffDelay, pause } from "@fetchwork/kit";
import { WebhookUsageError } from "../../../errors.ts";
import type { EventToSend } from "./event-to-send.ts";
import { OtherEventError, type PreparedEvent } from "./event-writer.ts";
import { senderCollections } from "../sender-collections.ts";

/** A change of a document. */
export interface AnnouncedChange extends Omit<ChangeRecord, "document"> {
  /**
   * The document as it was after the change; `undefined` when nothing was left behind. `createdAt`
   * is the time of the change when the document was removed for good since.
   */
  readonly document: Stored<Readonly<Record<string, unknown>>> | undefined;
}

type Announcement = Omit<EventToSend, "id"> | undefined;

/** The changes of one collection, and the events that tell of them. */
export interface AnnouncedCollection {
  /** Defined with `changes: "documents"`. */
  readonly collection: CollectionDefinition<object>;
  /** Returns the event for a change, or its promise; `undefined` for an unannounced change. */
  readonly event: (change: AnnouncedChange) => Announcement | Promise<Announcement>;
}

/** Announces changes while it is started. */
export interface ChangeAnnouncer {
  start(): void;
  /** Stops after the changes that it has in hand. */
  stop(): Promise<void>;
}

/**
 * Makes a {@link ChangeAnnouncer}. Each collection has a separate consumer, so that programs on one
 * store may announce different ones.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION` for a collection whose changes are not recorded.
 */
export function createAnnouncer({
  collections,
  onError,
  prepare,
  store,
  write,
}: {
  readonly store: Store;
  readonly collections: readonly AnnouncedCollection[];
  readonly prepare: (event: EventToSend) => Promise<PreparedEvent>;
  readonly write: (event: PreparedEvent) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}): ChangeAnnouncer {
  for (const { collection } of collections) {
    if (collection?.changes === "documents") continue;
    const message = `changes of ${collection?.name} are not recorded: define it with changes: "documents"`;
    throw new WebhookUsageError("ERR_WEBHOOKS_OPTION", message);
  }
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<unknown> | undefined;

  async function announce(
    { collection, event }: AnnouncedCollection,
    changes: readonly ChangeRecord[],
  ): Promise<void> {
    if (!(await hasListeners(store))) return;
    const createdAt = await creationTimes(collection, changes);
    const events = await Promise.all(
      changes.map((change) => eventsOf(event, change, createdAt.get(change.id))),
    );
    const prepared = events.flat().map(prepare);
    // A schema that takes longer for one of them must not change their order.
    await Promise.allSettled(prepared);
    await Promise.all(prepared.map(writeEvent));
  }

  /** When documents were created, which their records do not tell. */
  async function creationTimes(
    collection: CollectionDefinition<object>,
    changes: readonly ChangeRecord[],
  ): Promise<ReadonlyMap<string, string>> {
    const ids = [...new Set(changes.map(({ id }) => id))];
    const found = await store
      .collection(collection)
      .find({ where: { id: { in: ids } }, limit: ids.length, deleted: "include" });
    return new Map(found.map(({ createdAt, id }) => [id, createdAt]));
  }

  /** The event of a change; none of one whose event cannot be made, which is reported. */
  async function eventsOf(
    event: AnnouncedCollection["event"],
    change: ChangeRecord,
    createdAt: string = change.at,
  ): Promise<readonly EventToSend[]> {
    const { at: updatedAt, id, version } = change;
    const document = change.document && { ...change.document, id, version, createdAt, updatedAt };
    try {
      const made = await event({ ...change, document });
      return made === undefined ? [] : [{ ...made, id: eventId(change) }];
    } catch (error) {
      onError(error);
      return [];
    }
  }

  async function writeEvent(event: Promise<PreparedEvent>): Promise<void> {
    try {
      await write(await event);
    } catch (error) {
      // It was announced before its document was removed, by a process that was killed since.
      if (error instanceof OtherEventError) return;
      // Such as a payload that is too large: another attempt would not succeed.
      if (!(error instanceof WebhookUsageError)) throw error;
      onError(error);
    }
  }

  async function run(announced: AnnouncedCollection): Promise<void> {
    const { name } = announced.collection;
    let failures = 0;
    const handle = async (changes: readonly ChangeRecord[]): Promise<void> => {
      await announce(announced, changes);
      failures = 0;
    };
    while (!signal.aborted) {
      try {
        await store.consume(`webhooks:${name}`, handle, { collections: [name], signal });
        return;
      } catch (error) {
        onError(error);
        failures += 1;
        const delay = backoffDelay(failures, { baseDelay: 1_000, maxDelay: 60_000 });
        await pause(delay, signal).catch(() => {});
      }
    }
  }

  return {
    start() {
      if (!signal.aborted) running ??= Promise.all(collections.map(run));
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** The same for a repeated change, another for every other, also after a restore. */
function eventId({ at, collection, id, position }: ChangeRecord): string {
  const text = JSON.stringify([position, collection, id, at]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 32);
}

async function hasListeners(store: Store): Promise<boolean> {
  const endpoints = store.collection(senderCollections.endpoints);
  return (await endpoints.find({ where: { status: "enabled" }, limit: 1 })).length > 0;
}
