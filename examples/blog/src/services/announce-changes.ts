import type { Change, Collection, Store, Stored, Transaction } from "@fetchwork/documents";
import { adminViewer, type Resource } from "@fetchwork/rest";
import { shareRuns } from "@fetchwork/rest/handlers";
import { senderCollections, type EventToSend, type Sender } from "@fetchwork/webhooks/sender";
import { overlay } from "./overlay.ts";

/** Makes a change, and stores the events of what came of it. */
type Announce<T extends object> = <R>(
  change: (documents: Collection<T>) => Promise<R>,
  eventsOf: (result: R) => readonly EventToSend[],
) => Promise<R>;

/**
 * Makes a store that announces what changes in the collections of some resources: `article` with the action `created`,
 * `updated`, `removed` or `restored`, and the document as admins see it, of a removed one its `id`. A change and its event are stored together or not
 * at all, inside of transactions too. Other ways to change documents, such as `removeMany`, are not announced.
 */
export function announceChanges(
  store: Store,
  { resources, sender }: { readonly resources: readonly Resource[]; readonly sender: Sender },
): Store {
  const byCollection = new Map(resources.map((resource) => [resource.collection.name, resource]));

  async function storeEvents(
    transaction: Transaction,
    events: readonly EventToSend[],
  ): Promise<void> {
    for (const event of events) await sender.send(event, { transaction });
  }

  const isHeard = shareRuns(() => hasListeners(store));

  return overlay(store, {
    collection: (definition) => {
      const resource = byCollection.get(definition.name);
      const documents = store.collection(definition);
      if (!resource) return documents;
      return announced(documents, resource, async (change, eventsOf) => {
        // A transaction waits for the disk alone, so it is not made for nobody.
        if (!(await isHeard())) return change(documents);
        return store.transaction(async (transaction) => {
          const result = await change(transaction.collection(definition));
          await storeEvents(transaction, eventsOf(result));
          return result;
        });
      });
    },
    transaction: (work, options) =>
      store.transaction(
        (transaction) =>
          work({
            collection: (definition) => {
              const resource = byCollection.get(definition.name);
              const documents = transaction.collection(definition);
              if (!resource) return documents;
              return announced(documents, resource, async (change, eventsOf) => {
                const result = await change(documents);
                if (await hasListeners(transaction)) {
                  await storeEvents(transaction, eventsOf(result));
                }
                return result;
              });
            },
          }),
        options,
      ),
  });
}

function announced<T extends object>(
  documents: Collection<T>,
  { name, present }: Resource,
  announce: Announce<T>,
): Collection<T> {
  const changed = (action: string, document: Stored<T>): EventToSend => ({
    id: `${document.id}-${document.version}`,
    name,
    payload: { action, [name]: present(document, adminViewer) },
  });
  const removed = (id: string): EventToSend => ({
    // Not the same one for a document that was brought back and is removed again.
    id: `${id}-removed-${crypto.randomUUID().slice(0, 8)}`,
    name,
    payload: { action: "removed", [name]: { id } },
  });
  const updated = (document: Stored<T> | undefined): readonly EventToSend[] =>
    document ? [changed("updated", document)] : [];

  return overlay(documents, {
    insert: (document, options) =>
      announce(
        (inside) => inside.insert(document, options),
        (stored) => [changed("created", stored)],
      ),
    insertMany: (given) =>
      announce(
        (inside) => inside.insertMany(given),
        (stored) => stored.map((document) => changed("created", document)),
      ),
    update: (id, change: Change<T> | ((stored: Stored<T>) => Change<T>), options) =>
      announce((inside) => inside.update(id, change, options), updated),
    replace: (id, document, options) =>
      announce((inside) => inside.replace(id, document, options), updated),
    remove: (id, options) =>
      announce(
        (inside) => inside.remove(id, options),
        (wasThere) => (wasThere ? [removed(id)] : []),
      ),
    restore: (id) =>
      announce(
        (inside) => inside.restore(id),
        (document) => (document ? [changed("restored", document)] : []),
      ),
  });
}

async function hasListeners(documents: Pick<Transaction, "collection">): Promise<boolean> {
  const endpoints = documents.collection(senderCollections.endpoints);
  return (await endpoints.find({ where: { status: "enabled" }, limit: 1 })).length > 0;
}
