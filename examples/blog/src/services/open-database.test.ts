import { defineCollection } from "@fetchwork/documents";
import { expect, it, vi } from "vitest";
import { openDatabase } from "./open-database.ts";

it("warns once of a form of query that no index serves", async () => {
  const notes = defineCollection<{ topic: string }>("notes");
  const warn = vi.fn<(message: string) => void>();
  const store = await openDatabase("sqlite::memory:", [notes], warn);
  await store.collection(notes).find({ where: { topic: "a" } });
  await store.collection(notes).find({ where: { topic: "b" } });
  await store.close();
  expect(warn.mock.calls).toEqual([
    [
      'no index serves the filter by "topic": every document of "notes" is read, declare indexes: ["topic"]',
    ],
  ]);
});
