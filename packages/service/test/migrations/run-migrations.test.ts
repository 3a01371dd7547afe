import { administer, type Store } from "@fetchwork/documents";
import { expect, it } from "vitest";
import { progressCollection } from "../../src/migrations/progress-collection.ts";
import { type Direction, runMigrations } from "../../src/migrations/run-migrations.ts";
import { item, oldStore, rename } from "./migrating-service.ts";

const renaming = {
  ...rename,
  changes: rename.changes.map((each) => ({
    ...each,
    undo: ({ title, ...rest }: Readonly<Record<string, unknown>>) =>
      title === undefined ? undefined : { ...rest, titel: title },
  })),
};

/** Runs or undoes the migration; resolves to how many documents changed. */
async function run(store: Store, direction: Direction): Promise<number> {
  let sum = 0;
  await runMigrations(store, [renaming], {
    definitions: new Map([["items", item.collection]]),
    direction,
    choose: () => [renaming],
    begin: () => ({ part: () => undefined, done: (changed) => void (sum += changed) }),
    signal: new AbortController().signal,
  });
  return sum;
}

/** What is left by a process that is killed after the record of a migration. */
async function leaveNote(store: Store, direction: Direction): Promise<void> {
  const note = { step: 1, after: "", changed: 3 };
  await store.collection(progressCollection).insert(note, { id: `${direction}-1` });
}

it("runMigrations undoes a migration whose process was killed right after its record", async () => {
  const store = await oldStore(3);
  await run(store, "up");
  await leaveNote(store, "up");
  expect(await run(store, "undo")).toBe(3);
  expect((await administer(store).status()).migrations).toEqual([]);
});

it("runMigrations runs a migration whose undoing was killed right after its record", async () => {
  const store = await oldStore(3);
  await leaveNote(store, "undo");
  expect(await run(store, "up")).toBe(3);
});

it("runMigrations runs a migration again for what was written since, though its process was killed", async () => {
  const store = await oldStore(3);
  await run(store, "up");
  await leaveNote(store, "up");
  await store.collection(item.collection).insert({ titel: "late", count: 0 });
  expect(await run(store, "up")).toBe(1);
  expect(await store.collection(item.collection).count({ where: { title: null } })).toBe(0);
});

it("runMigrations refuses the other direction of what stopped in the middle", async () => {
  const store = await oldStore(3);
  const note = { step: 0, after: "a", changed: 1 };
  await store.collection(progressCollection).insert(note, { id: "up-1" });
  await expect(run(store, "undo")).rejects.toThrow('"fetchwork migrate run" goes on with it');
});

it("runMigrations names the command for what stopped in the middle of running again", async () => {
  const store = await oldStore(3);
  await run(store, "up");
  const note = { step: 0, after: "a", changed: 1 };
  await store.collection(progressCollection).insert(note, { id: "up-1" });
  await expect(run(store, "undo")).rejects.toThrow('"fetchwork migrate run --again 1" goes on');
});
