import { administer, type Store } from "@fetchwork/documents";
import { runHandler } from "@fetchwork/http";
import { expect, it } from "vitest";
import type { DocumentMigration, OpenService } from "../../src/index.ts";
import { item, migratingService, oldStore, rename, start } from "./migrating-service.ts";

async function get(opened: OpenService, path: string): Promise<number> {
  return (await runHandler(opened.handler, new Request(`http://localhost${path}`))).status;
}

async function countOf(store: Store, where: object): Promise<number> {
  return store.collection(item.collection).count({ where });
}

async function applied(store: Store): Promise<readonly number[]> {
  return (await administer(store).status()).migrations.map(({ id }) => id);
}

/** Changes nothing that has changed already, and says when documents are changed. */
function counted(onChange: (calls: number) => void): DocumentMigration {
  let calls = 0;
  return {
    id: 1,
    name: "count",
    changes: [
      {
        collection: "items",
        change: (document) => {
          calls += 1;
          onChange(calls);
          return { ...document, count: Number(document["count"]) + 1 };
        },
      },
    ],
  };
}

it("a service that starts runs what is pending in order, next to requests, and logs it", async () => {
  const store = await oldStore(250);
  const second: DocumentMigration = {
    id: 2,
    name: "shout",
    changes: [
      {
        collection: "items",
        change: ({ title, ...rest }) => ({ ...rest, title: String(title).toUpperCase() }),
      },
    ],
  };
  const { errors, lines, opened } = await start(store, [second, rename]);
  expect(await get(opened, "/health")).toBe(200);
  await expect.poll(() => lines.at(-1)).toBe("migration 2 (shout) is done: 250 documents changed");
  expect(lines).toEqual([
    "migration 1 (rename-titel) begins: 250 documents",
    "migration 1 (rename-titel) is done: 250 documents changed",
    "migration 2 (shout) begins: 250 documents",
    "migration 2 (shout) is done: 250 documents changed",
  ]);
  expect(errors).toEqual([]);
  expect(await countOf(store, { title: { gte: "T0" }, titel: null })).toBe(250);
  expect(await applied(store)).toEqual([1, 2]);

  const again = await start(store, [rename, second]);
  await again.opened.stop();
  expect(again).toMatchObject({ lines: [], errors: [] });
});

it("a service that starts runs nothing without MIGRATE=start, and warns of it without migrations", async () => {
  const store = await oldStore(1);
  const off = await start(store, [rename], {});
  await off.opened.stop();
  const none = await start(store, undefined);
  await none.opened.stop();
  expect([off.lines, none.lines]).toEqual([[], [expect.stringContaining("MIGRATE")]]);
  expect([await applied(store), await countOf(store, { title: null })]).toEqual([[], 1]);
});

it(
  "a service that starts runs a migration once when processes start together",
  { timeout: 30_000 },
  async () => {
    const store = await oldStore(350);
    const all = await Promise.all(
      Array.from({ length: 3 }, () => start(store, [counted(() => undefined)])),
    );
    const lines = (): readonly string[] => all.flatMap((each) => each.lines);
    await expect.poll(() => lines().length, { timeout: 10_000 }).toBe(2);
    await Promise.all(all.map(({ opened }) => opened.stop()));
    expect(await countOf(store, { count: 1 })).toBe(350);
    expect(all.flatMap(({ errors }) => errors)).toEqual([]);
  },
);

it("a service that starts stops between two parts, and the next start goes on there", async () => {
  const store = await oldStore(450);
  const stops: Promise<void>[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const migration = counted((calls) => calls === 150 && resolve());
  const first = await start(store, [migration]);
  void promise.then(() => stops.push(first.opened.stop()));
  await expect.poll(() => stops.length).toBe(1);
  await Promise.all(stops);
  expect(first.lines.at(-1)).toBe("the migrations stopped: the next start goes on");
  const changed = await countOf(store, { count: 1 });
  expect([changed % 100, changed > 0, changed < 450]).toEqual([0, true, true]);
  expect([await applied(store), first.errors]).toEqual([[], []]);

  const { lines } = await start(store, [counted(() => undefined)]);
  await expect.poll(() => lines.at(-1)).toContain("450 documents changed");
  expect(await countOf(store, { count: 1 })).toBe(450);
});

it("logs a failure, serves on, and tries again at the next start", async () => {
  const store = await oldStore(3);
  const failing = counted(() => {
    throw new Error("to be filled in");
  });
  const { errors, opened } = await start(store, [failing]);
  await expect.poll(() => errors.length).toBe(1);
  expect(errors[0]).toMatchObject({
    code: "ERR_SERVICE_START",
    message: expect.stringContaining("to be filled in"),
  });
  expect([await get(opened, "/health"), await get(opened, "/items")]).toEqual([200, 200]);
  expect(await applied(store)).toEqual([]);
  const { lines } = await start(store, [counted(() => undefined)]);
  await expect.poll(() => lines.at(-1)).toContain("3 documents changed");
});

it("a service that starts waits for a process that runs migrations, and takes over from it", async () => {
  const store = await oldStore(3);
  let waiting: Awaited<ReturnType<typeof start>> | undefined;
  await store.lock("fetchwork:migrate", async () => {
    waiting = await start(store, [rename]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(waiting.lines).toEqual([]);
  });
  await expect
    .poll(() => waiting?.lines.at(-1), { timeout: 5_000 })
    .toContain("3 documents changed");
});

it("a service that starts stops at once while it waits for another process", async () => {
  const store = await oldStore(3);
  await store.lock("fetchwork:migrate", async () => {
    const { errors, opened } = await start(store, [rename]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const from = performance.now();
    await opened.stop();
    expect(performance.now() - from).toBeLessThan(1_500);
    expect(errors).toEqual([]);
  });
});

it("logs that a store ran a migration which the program does not have", async () => {
  const store = await oldStore(3);
  const newer = await start(store, [rename, { ...rename, id: 2, name: "two" }]);
  await expect.poll(() => newer.lines.length).toBe(4);
  const { errors, opened } = await start(store, [rename]);
  await expect.poll(() => errors.length).toBe(1);
  expect(errors[0]).toMatchObject({ message: expect.stringContaining("migration 2 (two) ran") });
  expect(await get(opened, "/items")).toBe(200);
});

it.each([
  ["no list", { id: 1 }],
  ["no name", [{ ...rename, name: "" }]],
  ["no changes", [{ ...rename, changes: [] }]],
  ["a number twice", [rename, { ...rename, name: "other" }]],
])("a service that starts refuses %s", (_what, migrations) => {
  expect(() => migratingService(migrations as readonly DocumentMigration[])).toThrow(/migrations/);
});
