import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Collection, defineCollection, openStore } from "../src/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

interface Note {
  text: string;
}

const notes = defineCollection<Note>("notes");

const reads: readonly [string, (collection: Collection<Note>) => Promise<unknown>][] = [
  ["get", (collection) => collection.get("broken")],
  ["getMany", (collection) => collection.getMany(["broken"])],
  ["find", (collection) => collection.find()],
  ["find with fields", (collection) => collection.find({ fields: ["text"] })],
  ["update", (collection) => collection.update("broken", { text: "b" })],
];

async function openDamaged(doc: string): Promise<Collection<Note>> {
  const path = join(temporaryFolder(), "a.db");
  const store = await openStore(`sqlite:${path}`, { collections: [notes] });
  onTestFinished(() => store.close());
  await store.collection(notes).insert({ text: "a" }, { id: "broken" });
  const other = new DatabaseSync(path);
  other.prepare("UPDATE notes SET doc = ?").run(doc);
  other.close();
  return store.collection(notes);
}

describe("A document that another program damaged", () => {
  it.each(reads)("is named by %s, without its text", async (_name, read) => {
    for (const doc of ['secret {"text":', '["secret"]', '"secret"', "null", ""]) {
      const collection = await openDamaged(doc);
      const error: unknown = await read(collection).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: "ERR_DOCUMENTS_ENGINE",
        message: 'the document "broken" of "notes" is damaged',
      });
      expect(error).not.toHaveProperty("cause");
    }
  });

  it("does not harm the other changes of its batch", async () => {
    const collection = await openDamaged("secret");
    const results = await Promise.allSettled([
      collection.insert({ text: "before" }),
      collection.update("broken", { text: "b" }),
      collection.insert({ text: "after" }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(await collection.count()).toBe(3);
  });

  it("can be removed", async () => {
    const collection = await openDamaged("secret");
    expect(await collection.remove("broken")).toBe(true);
    expect(await collection.count()).toBe(0);
  });
});
