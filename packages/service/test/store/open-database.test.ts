import { createServer, type AddressInfo } from "node:net";
import { once } from "node:events";
import { defineCollection } from "@fetchwork/documents";
import { expect, it, vi } from "vitest";
import { StartError } from "../../src/index.ts";
import { openDatabase } from "../../src/store/open-database.ts";

const notes = defineCollection<{ topic: string }>("notes");

it("openDatabase warns once of a form of query that no index serves", async () => {
  const warn = vi.fn<(message: string) => void>();
  const store = await openDatabase("sqlite::memory:", {
    collections: [notes],
    name: "notes",
    warn,
  });
  await store.collection(notes).find({ where: { topic: "a" } });
  await store.collection(notes).find({ where: { topic: "b" } });
  await store.close();
  expect(warn.mock.calls).toEqual([
    [
      'no index serves the filter by "topic": every document of "notes" is read, declare indexes: ["topic"]',
    ],
  ]);
});

it.each([
  ["mysql://localhost/notes", "DATABASE_URL: "],
  ["sqlite:/dev/null/notes.db", "DATABASE_URL: cannot open /dev/null/notes.db"],
])("openDatabase names the setting at fault, and the file: %s", async (url, message) => {
  const opening = openDatabase(url, { collections: [notes], name: "notes" });
  await expect(opening).rejects.toThrow(StartError);
  await expect(opening).rejects.toThrow(message);
});

it("openDatabase shows no password of a database that it cannot reach", async () => {
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const url = `postgres://ann:se-cret@127.0.0.1:${port}/notes?connect_timeout=1`;
  const opening = openDatabase(url, { collections: [notes], name: "notes" });
  const error: unknown = await opening.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StartError);
  expect(String(error)).not.toContain("se-cret");
});
