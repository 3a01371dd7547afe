import type {
  Change,
  Collection,
  CollectionDefinition,
  Store,
  Stored,
  Transaction,
} from "@fetchwork/documents";
import { view, type Resource } from "@fetchwork/rest";
import type { EventToSend, Sender } from "@fetchwork/webhooks/sender";

/**
 * Makes a store that announces what changes in the collections of some resources: `article` with the action `created`,
 * `updated` or `removed`, and the document as its resource shows it. A change and its event are stored together or not
 * at all. Changes inside of transactions and `removeMany` are not announced.
 */
export function announceChanges(
  store: Store,
  { resources, sender }: { readonly resources: readonly Resource[]; readonly sender: Sender },
): Store {
  const byCollection = new Map(resources.map((resource) => [resource.collection.name, resource]));
  return {
    collection: (definition) => {
      const resource = byCollection.get(definition.name);
      const documents = store.collection(definition);
      return resource ? announced(documents, definition, resource) : documents;
    },
    transaction: (work, options) => store.transaction(work, options),
    close: () => store.close(),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };

  function announced<T extends object>(
    documents: Collection<T>,
    definition: CollectionDefinition<T>,
    resource: Resource,
  ): Collection<T> {
    const { name, list } = resource;
    const changed = (action: string, document: Stored<T>): EventToSend => ({
      id: `${document.id}-${document.version}`,
      name,
      payload: { action, [name]: view(document, list.selectable) },
    });

    async function withEvents<R>(
      run: (documents: Collection<T>) => Promise<R>,
      eventsOf: (result: R) => readonly EventToSend[],
    ): Promise<R> {
      // A transaction waits for the disk alone, so it is not made for nobody.
      if (!(await hasListeners(sender))) return run(documents);
      return store.transaction(async (transaction: Transaction) => {
        const result = await run(transaction.collection(definition));
        for (const event of eventsOf(result)) await sender.send(event, { transaction });
        return result;
      });
    }

    const updated = (document: Stored<T> | undefined): readonly EventToSend[] =>
      document ? [changed("updated", document)] : [];

    return {
      name: documents.name,
      get: (id) => documents.get(id),
      getMany: (ids) => documents.getMany(ids),
      find: documents.find.bind(documents),
      count: (selection) => documents.count(selection),
      removeMany: (selection) => documents.removeMany(selection),
      insert: (document, options) =>
        withEvents(
          (inside) => inside.insert(document, options),
          (stored) => [changed("created", stored)],
        ),
      insertMany: (given) =>
        withEvents(
          (inside) => inside.insertMany(given),
          (stored) => stored.map((document) => changed("created", document)),
        ),
      update: (id, change: Change<T> | ((stored: Stored<T>) => T), options) =>
        withEvents((inside) => inside.update(id, change, options), updated),
      replace: (id, document, options) =>
        withEvents((inside) => inside.replace(id, document, options), updated),
      remove: (id, options) =>
        withEvents(
          (inside) => inside.remove(id, options),
          (wasThere) =>
            wasThere
              ? [{ id: `${id}-removed`, name, payload: { action: "removed", [name]: { id } } }]
              : [],
        ),
    };
  }
}

async function hasListeners({ endpoints }: Sender): Promise<boolean> {
  return (await endpoints.list()).some(({ status }) => status === "enabled");
}
