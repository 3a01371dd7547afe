import { describe, expect, it, onTestFinished } from "vitest";
import { defineCollection, openStore, type Store, UniqueError } from "../src/index.ts";
import { newDatabase } from "./open-for-test.ts";
import { noPostgres, runSql } from "./postgres-server.ts";

interface Seat {
  seat: string;
}

const seats = defineCollection<Seat>("seats", { unique: ["seat"], changes: "ids" });

async function open(): Promise<{ readonly url: string; readonly store: Store }> {
  const url = await newDatabase();
  const store = await openStore(url, {
    collections: [seats],
    postgres: { statementTimeout: 5000 },
  });
  onTestFinished(() => store.close());
  return { url, store };
}

/** How many transactions wrote the rows: the one that made a row is in its `xmin`. */
async function transactions(url: string): Promise<unknown> {
  return runSql(
    url,
    "SELECT count(*)::int AS rows, count(DISTINCT xmin::text)::int AS made FROM seats",
  );
}

/** How many connections there are to the database; a store opens another one when none is free. */
async function connections(url: string): Promise<unknown> {
  return runSql(
    url,
    "SELECT count(*)::int FROM pg_stat_activity " +
      "WHERE datname = current_database() AND application_name = 'fetchwork'",
  );
}

describe.skipIf(noPostgres !== undefined)("What is asked for in one turn", () => {
  it("lets a document that is refused fail alone", async () => {
    const { store } = await open();
    const collection = store.collection(seats);
    const outcomes = await Promise.allSettled(
      ["A1", "A2", "A1", "A3"].map((seat) => collection.insert({ seat })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map(({ reason }) => reason)).toEqual([expect.any(UniqueError)]);
    const kept = (await collection.find({ sort: ["seat"] })).map(({ seat }) => seat);
    expect(kept).toEqual(["A1", "A2", "A3"]);
    const recorded: string[] = [];
    for await (const { id } of store.changes({ atEnd: "end" })) recorded.push(id);
    expect(recorded).toHaveLength(3);
  });

  it("refuses an id that is taken twice in it, and adds the rest", async () => {
    const { store } = await open();
    const collection = store.collection(seats);
    const outcomes = await Promise.allSettled([
      collection.insert({ seat: "A1" }, { id: "one" }),
      collection.insert({ seat: "A2" }, { id: "one" }),
      collection.insert({ seat: "A3" }),
    ]);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(await collection.count()).toBe(2);
  });

  it("adds documents by one transaction, in the order of their ids", async () => {
    const { url, store } = await open();
    const added = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        store.collection(seats).insert({ seat: `${index}` }),
      ),
    );
    expect(await transactions(url)).toEqual([{ rows: 20, made: 1 }]);
    const ids = added.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    expect(added.map(({ seat, version }) => [seat, version])).toEqual(
      ids.map((_id, index) => [`${index}`, 1]),
    );
  });

  it("adds large documents by more than one", async () => {
    const { url, store } = await open();
    await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        store.collection(seats).insert({ seat: `${index}${"x".repeat(500_000)}` }),
      ),
    );
    expect(await transactions(url)).toEqual([{ rows: 4, made: 2 }]);
  });

  it("waits for the unique field of another transaction no longer than that takes", async () => {
    const { store } = await open();
    const collection = store.collection(seats);
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const taken = Promise.withResolvers<undefined>();
    const holding = store.transaction(async (tx) => {
      await tx.collection(seats).insert({ seat: "A1" });
      taken.resolve(undefined);
      await promise;
    });
    await taken.promise;
    const waiting = collection.insert({ seat: "A1" }).catch((error: unknown) => error);
    // In the same statement, until the other one has waited long enough.
    await expect(collection.insert({ seat: "A2" })).resolves.toMatchObject({ seat: "A2" });
    resolve(undefined);
    await holding;
    expect(await waiting).toBeInstanceOf(UniqueError);
  });

  it("reads each document that is there, and nothing for the others", async () => {
    const { store } = await open();
    const collection = store.collection(seats);
    const one = await collection.insert({ seat: "A1" });
    const two = await collection.insert({ seat: "A2" });
    await collection.remove(two.id);
    const found = await Promise.all(
      [one.id, two.id, "none", "no id\0", one.id, ""].map((id) => collection.get(id)),
    );
    expect(found).toEqual([one, undefined, undefined, undefined, one, undefined]);
    expect(found[0]).not.toBe(found[4]);
  });

  it("reads what is asked for at once through one connection", async () => {
    const { url, store } = await open();
    const collection = store.collection(seats);
    const { id } = await collection.insert({ seat: "A1" });
    const before = await connections(url);
    await Promise.all(Array.from({ length: 8 }, () => collection.get(id)));
    expect(await connections(url)).toEqual(before);
  });

  it("fails for all when the store is closed", async () => {
    const { store } = await open();
    const collection = store.collection(seats);
    await store.close();
    const outcomes = await Promise.allSettled([collection.get("a"), collection.get("b")]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
  });
});
