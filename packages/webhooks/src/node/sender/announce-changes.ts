import { createHash } from "node:crypto";
import type { ChangeRecord, CollectionDefinition, Store, Stored } from "@fetchwork/documents";
import { backoffDelay, pause } from "@fetchwork/kit";
import { WebhookUsageError } from "../../errors.ts";
import type { EventToSend } from "./event-to-send.ts";
import { senderCollections } from "./sender-collections.ts";

/** A change of a document. */
export interface AnnouncedChange extends Omit<ChangeRecord, "document"> {
  /**
   * The document as it was after the change; `undefined` when nothing was left behind. `createdAt` is empty when the
   * document was removed for good since.
   */
  readonly document: Stored<Readonly<Record<string, unknown>>> | undefined;
}

/** The changes of one collection, and the events that tell of them. */
export interface AnnouncedCollection {
  /** Defined with `changes: "documents"`. */
  readonly collection: CollectionDefinition<object>;
  /** Returns the event that tells of a change; `undefined` for a change that is not announced. */
  readonly event: (change: AnnouncedChange) => Omit<EventToSend, "id"> | undefined;
}

/** Announces changes while it is started. */
export interface ChangeAnnouncer {
  start(): void;
  /** Stops after the changes that it has in hand. */
  stop(): Promise<void>;
}

/** Time for which records of the feed are kept, and between two removals, in milliseconds. */
const keepFor = 7 * 86_400_000;
const trimInterval = 3_600_000;

/**
 * Makes a {@link ChangeAnnouncer}. Records that are older than a week are removed from the feed after they were announced.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION` for a collection whose changes are not recorded.
 */
export function createAnnouncer({
  collections,
  onError,
  send,
  store,
}: {
  readonly store: Store;
  readonly collections: readonly AnnouncedCollection[];
  readonly send: (event: EventToSend) => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}): ChangeAnnouncer {
  const byName = new Map(collections.map((announced) => [announced.collection.name, announced]));
  for (const { collection } of collections) {
    if (collection.changes === "documents") continue;
    const message = `changes of ${collection.name} are not recorded: define it with changes: "documents"`;
    throw new WebhookUsageError("ERR_WEBHOOKS_OPTION", message);
  }
  const stopping = new AbortController();
  const { signal } = stopping;
  let trimmedAt = Date.now();
  let running: Promise<void> | undefined;

  async function announce(changes: readonly ChangeRecord[]): Promise<void> {
    if (await hasListeners(store)) {
      const createdAt = await creationTimes(changes);
      const sending = changes.map((change) =>
        sendEvent(change, createdAt.get(`${change.collection} ${change.id}`) ?? ""),
      );
      await Promise.all(sending);
    }
    if (Date.now() - trimmedAt < trimInterval) return;
    trimmedAt = Date.now();
    // The position of the consumer is before these changes until they are announced.
    const oldest = Math.min(...changes.map(({ at }) => Date.parse(at)));
    const before = Math.min(Date.now() - keepFor, oldest - trimInterval);
    await store.trimChanges({ before: new Date(before).toISOString() });
  }

  /** When documents were created, which their records do not tell. */
  async function creationTimes(
    changes: readonly ChangeRecord[],
  ): Promise<ReadonlyMap<string, string>> {
    const times = new Map<string, string>();
    for (const [name, { collection }] of byName) {
      const ids = changes.flatMap((change) => (change.collection === name ? [change.id] : []));
      if (ids.length === 0) continue;
      const where = { id: { in: [...new Set(ids)] } };
      const found = await store.collection(collection).find({ where, limit: ids.length });
      for (const { createdAt, id } of found) times.set(`${name} ${id}`, createdAt);
    }
    return times;
  }

  async function sendEvent(change: ChangeRecord, createdAt: string): Promise<void> {
    const { at: updatedAt, id, version } = change;
    const meta = { id, version, createdAt, updatedAt };
    const document = change.document && { ...change.document, ...meta };
    const event = byName.get(change.collection)?.event({ ...change, document });
    if (event === undefined) return;
    try {
      await send({ ...event, id: eventId(change) });
    } catch (error) {
      // Such as a payload that is too large: another attempt would not succeed.
      if (!(error instanceof WebhookUsageError)) throw error;
      onError(error);
    }
  }

  async function run(): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        const options = { collections: [...byName.keys()], signal };
        await store.consume("webhooks", announce, options);
        return;
      } catch (error) {
        onError(error);
        const delay = backoffDelay(failures, { baseDelay: 1_000, maxDelay: 60_000 });
        await pause(delay, signal).catch(() => {});
      }
    }
  }

  return {
    start() {
      if (!signal.aborted && byName.size > 0) running ??= run();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** The same for a change that is passed again, and another one for every other change, also after a backup was restored. */
function eventId({ at, collection, id, position }: ChangeRecord): string {
  const text = JSON.stringify([position, collection, id, at]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 32);
}

async function hasListeners(store: Store): Promise<boolean> {
  const endpoints = store.collection(senderCollections.endpoints);
  return (await endpoints.find({ where: { status: "enabled" }, limit: 1 })).length > 0;
}
