import {
  administer,
  type CollectionDefinition,
  defineCollection,
  openStore,
  type Store,
} from "@fetchwork/documents";
import type { DocumentMigration } from "@fetchwork/service";
import { progressCollection } from "@fetchwork/service/internal";
import { openExisting } from "../db/store-url.ts";
import { pendingUnique } from "./compare-store.ts";
import type { Model } from "./model.ts";

/** A store whose documents migrations change. */
export interface OpenForChanges {
  readonly store: Store;
  readonly definitions: ReadonlyMap<string, CollectionDefinition<object>>;
}

/**
 * Opens a store for migrations, without the schemas of its collections and the unique indexes that it does not have yet:
 * migrations make the documents fit them. Other indexes and searches are built first.
 *
 * @throws Error for a migration of a collection that the models do not have.
 */
export async function openForChanges(
  url: string,
  models: readonly Model[],
  migrations: readonly DocumentMigration[],
): Promise<OpenForChanges> {
  const names = new Set(
    migrations.flatMap(({ changes }) => changes.map(({ collection }) => collection)),
  );
  const used = models.filter(({ collection }) => names.delete(collection.name));
  for (const name of names) {
    throw new Error(
      `a migration changes the collection "${name}", which the project does not define`,
    );
  }
  const definitions = await definitionsOf(url, used);
  const store = await openStore(url, {
    create: false,
    collections: [progressCollection, ...definitions],
  });
  return { store, definitions: new Map(definitions.map((each) => [each.name, each])) };
}

async function definitionsOf(
  url: string,
  models: readonly Model[],
): Promise<readonly CollectionDefinition<object>[]> {
  await using store = await openExisting(url);
  const steps = await administer(store).plan({
    collections: models.map(({ collection }) => collection),
  });
  return models.map((model) => {
    const pending = pendingUnique(model, steps);
    const { name, unique, ...rest } = model.collection;
    // The fields were checked by the definition that they are of.
    const options: object = {
      ...rest,
      unique: unique.filter((fields) => !pending.includes(fields)),
    };
    return defineCollection(name, options);
  });
}
