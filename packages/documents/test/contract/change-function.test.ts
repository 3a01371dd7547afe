import { describe, expect, it } from "vitest";
import { defineCollection } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

interface Note {
  text: string;
  rank?: number;
  tags?: string[];
}

const notes = defineCollection<Note>("notes");

describe.each(enginesOfFile())("A function of the stored document in %s", (_engine, open) => {
  it("returns the fields that update() merges, as an object does", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const { id } = await collection.insert({ text: "a", rank: 1, tags: ["x"] });
    const changed = await collection.update(id, ({ rank = 0 }) => ({ rank: rank + 1 }));
    expect(changed).toMatchObject({ text: "a", rank: 2, tags: ["x"], version: 2 });
    expect(await collection.get(id)).toEqual(changed);
  });

  it("removes a field that it returns as undefined", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const { id } = await collection.insert({ text: "a", rank: 1, tags: ["x"] });
    await collection.update(id, (note) => ({ ...note, rank: undefined }));
    expect(await collection.get(id)).not.toHaveProperty("rank");
    expect(await collection.get(id)).toMatchObject({ text: "a", tags: ["x"] });
  });

  it("only changes what it returns, not what it deleted from the stored document", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const { id } = await collection.insert({ text: "a", rank: 1 });
    const changed = await collection.update(id, (note) => {
      delete note.rank;
      return note;
    });
    expect(changed).toMatchObject({ text: "a", rank: 1 });
  });

  it("leaves the document as it is when it returns no fields", async () => {
    const recorded = defineCollection<Note>("recorded", { changes: "ids" });
    const store = await open({ collections: [recorded] });
    const collection = store.collection(recorded);
    const stored = await collection.insert({ text: "a", tags: ["x"] });
    const left = await collection.update(stored.id, (note) => {
      note.tags?.push("y");
      return {};
    });
    expect(left).toEqual(stored);
    expect(await collection.get(stored.id)).toEqual(stored);
    const kinds: string[] = [];
    for await (const { kind } of store.changes({ atEnd: "end" })) kinds.push(kind);
    expect(kinds).toEqual(["insert"]);
    const stale = collection.update(stored.id, () => ({}), { ifVersion: 2 });
    await expect(stale).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VERSION" });
  });

  it("returns the whole new document of replace()", async () => {
    const collection = (await open({ collections: [notes] })).collection(notes);
    const { id } = await collection.insert({ text: "a", rank: 1, tags: ["x"] });
    const replaced = await collection.replace(id, ({ text, rank = 0 }) => ({ text, rank }), {
      ifVersion: 1,
    });
    expect(replaced).toMatchObject({ text: "a", rank: 1, version: 2 });
    expect(replaced).not.toHaveProperty("tags");
    expect(await collection.get(id)).toEqual(replaced);
    expect(await collection.replace("none", (note) => note)).toBeUndefined();
    const stale = collection.replace(id, (note) => note, { ifVersion: 1 });
    await expect(stale).rejects.toMatchObject({ code: "ERR_DOCUMENTS_VERSION" });
  });
});
