import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { defineCollection, openStore } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres } from "./postgres-server.ts";

const notes = defineCollection<{ text: string }>("notes");

it.skipIf(noPostgres).each([false, true])(
  "A document that waits for the removal of its id begins above the version that was removed (distributed: %s)",
  async (distributed) => {
    const postgres = { distributed };
    const store = await openStore(await newDatabase(), { collections: [notes], postgres });
    const collection = store.collection(notes);
    await collection.insert({ text: "first" }, { id: "a" });
    const updated = Promise.withResolvers<undefined>();
    const removing = store.transaction(async (transaction) => {
      await transaction.collection(notes).update("a", { text: "second" });
      updated.resolve(undefined);
      await wait(300);
      await transaction.collection(notes).remove("a");
    });
    await updated.promise;
    // It waits for the transaction, which has changed the document.
    const inserted = await collection.insert({ text: "third" }, { id: "a" });
    await removing;
    expect(inserted).toMatchObject({ text: "third", version: 3 });
    await store.close();
  },
);
