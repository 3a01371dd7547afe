import { afterEach, describe, expect, it, vi } from "vitest";
import { defineCollection, type Transaction } from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Account {
  owner: string;
  balance: number;
}

const accounts = defineCollection<Account>("accounts", { unique: ["owner"], search: ["owner"] });
const entries = defineCollection<{ text: string }>("entries", { changes: "ids" });

afterEach(() => {
  vi.useRealTimers();
});

describe.each(engines)("A transaction of %s", (engine, open, openNew) => {
  it("undoes everything when the function throws", async () => {
    const store = await open({ collections: [accounts, entries] });
    const { id } = await store.collection(accounts).insert({ owner: "ann", balance: 10 });
    const fault = new Error("changed my mind");
    const work = store.transaction(async (tx) => {
      await tx.collection(accounts).update(id, { balance: 0 });
      await tx.collection(accounts).insert({ owner: "bob", balance: 10 });
      await tx.collection(entries).insert({ text: "moved" });
      throw fault;
    });
    await expect(work).rejects.toBe(fault);
    expect(await store.collection(accounts).get(id)).toMatchObject({ balance: 10, version: 1 });
    expect(await store.collection(accounts).count()).toBe(1);
    expect(await store.collection(accounts).count({ q: "bob" })).toBe(0);
    expect(await store.collection(entries).count()).toBe(0);
  });

  it("undoes a collection that it created", async () => {
    const store = await openNew();
    const work = store.transaction(async (tx) => {
      await tx.collection(entries).insert({ text: "gone" });
      throw new Error("no");
    });
    await expect(work).rejects.toThrow("no");
    expect(await store.collection(entries).count()).toBe(0);
    await store.collection(entries).insert({ text: "stays" });
    expect(await store.collection(entries).count()).toBe(1);
  });

  it("may be the first to use a collection that is searched, after it has read another", async () => {
    const store = await openNew();
    await store.collection(entries).insert({ text: "first" });
    const found = await store.transaction(
      async (tx) => {
        await tx.collection(entries).count();
        await tx.collection(accounts).insert({ owner: "ann", balance: 1 });
        return tx.collection(accounts).find({ q: "ann" });
      },
      { timeout: 5_000 },
    );
    expect(found).toMatchObject([{ owner: "ann" }]);
    expect(await store.collection(accounts).count({ q: "ann" })).toBe(1);
  });

  it("is rolled back when it takes too long, and lets the others go on", async () => {
    const store = await open({ collections: [accounts] });
    // Only the clock of the limit: how fast the machine is decides nothing.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const inserted = Promise.withResolvers<undefined>();
    const never = Promise.withResolvers<undefined>();
    let late: Promise<unknown> = Promise.resolve();
    const work = store.transaction(
      async (tx) => {
        await tx.collection(accounts).insert({ owner: "ann", balance: 1 });
        inserted.resolve(undefined);
        await never.promise;
        late = tx.collection(accounts).insert({ owner: "bob", balance: 1 });
        await late.catch(() => undefined);
      },
      { timeout: 4000 },
    );
    const next = inserted.promise.then(() =>
      store.collection(accounts).insert({ owner: "ann", balance: 2 }),
    );
    await inserted.promise;
    vi.advanceTimersByTime(4000);
    await expect(work).rejects.toMatchObject({ code: "ERR_DOCUMENTS_TIMEOUT" });
    vi.useRealTimers();
    expect(await next).toMatchObject({ balance: 2 });
    never.resolve(undefined);
    await store.collection(accounts).insert({ owner: "cyd", balance: 1 });
    await expect(late).rejects.toMatchObject({ code: "ERR_DOCUMENTS_TRANSACTION" });
    expect(await store.collection(accounts).count()).toBe(2);
  });

  it.each([0, -1, Number.NaN, 2 ** 31])("refuses the time limit %d", async (timeout) => {
    const store = await open();
    await expect(store.transaction(() => 1, { timeout })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_OPTIONS",
    });
  });

  it("refuses another transaction and a change of the store inside", async () => {
    const store = await openNew({ collections: [accounts] });
    const code = { code: "ERR_DOCUMENTS_TRANSACTION" };
    await store.transaction(async () => {
      await expect(store.transaction(() => 1)).rejects.toMatchObject(code);
      await expect(
        store.collection(accounts).insert({ owner: "ann", balance: 1 }),
      ).rejects.toMatchObject(code);
      await expect(store.collection(entries).count()).rejects.toMatchObject(code);
      await expect(store.lock("a", () => 1)).rejects.toMatchObject(code);
      await expect(store.consume("a", () => undefined, { atEnd: "end" })).rejects.toMatchObject(
        code,
      );
      const before = new Date().toISOString();
      await expect(store.trimChanges({ before })).rejects.toMatchObject(code);
    });
    await store.collection(accounts).insert({ owner: "ann", balance: 1 });
  });

  it("does all of what nobody awaited before its end", async () => {
    const store = await open({ collections: [accounts, entries] });
    const unawaited: Promise<unknown>[] = [];
    await store.transaction((tx) => {
      const inside = tx.collection(accounts);
      unawaited.push(
        inside.insert({ owner: "ann", balance: 1 }),
        inside.insert({ owner: "bob", balance: 1 }),
        tx.collection(entries).insertMany([{ text: "a" }, { text: "b" }]),
      );
    });
    await Promise.all(unawaited);
    expect(await store.collection(accounts).count()).toBe(2);
    expect(await store.collection(entries).count()).toBe(2);
    for (const owner of ["ann", "bob"]) {
      await expect(store.collection(accounts).insert({ owner, balance: 2 })).rejects.toMatchObject({
        fields: ["owner"],
      });
    }
    const fed = await Array.fromAsync(store.changes({ atEnd: "end" }));
    expect(fed.map(({ collection }) => collection)).toEqual(["entries", "entries"]);
  });

  it("refuses to be used after its end", async () => {
    const store = await open();
    let kept: Transaction | undefined;
    await store.transaction((tx) => {
      kept = tx;
    });
    await expect(kept?.collection(entries).count()).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_TRANSACTION",
    });
    await expect(kept?.collection(entries).insert({ text: "x" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_TRANSACTION",
    });
  });

  it("reads its own changes, while nobody else does before the end", async () => {
    const store = await open({ collections: [accounts] });
    const outside = store.collection(accounts);
    const { id } = await outside.insert({ owner: "ann", balance: 10 });
    const result = await store.transaction(async (tx) => {
      const inside = tx.collection(accounts);
      await inside.update(id, { balance: 5 });
      await inside.insert({ owner: "bob", balance: 5 });
      expect(await inside.get(id)).toMatchObject({ balance: 5 });
      expect(await inside.count()).toBe(2);
      expect(await inside.find({ q: "bob" })).toHaveLength(1);
      expect(await outside.get(id)).toMatchObject({ balance: 10 });
      expect(await outside.count()).toBe(1);
      expect(await outside.find()).toHaveLength(1);
      expect(await outside.getMany([id])).toMatchObject([{ balance: 10 }]);
      return "done";
    });
    expect(result).toBe("done");
    expect(await outside.get(id)).toMatchObject({ balance: 5 });
    expect(await outside.count()).toBe(2);
  });

  it("goes on after a change in it that was refused", async () => {
    const store = await open({ collections: [accounts] });
    await store.transaction(async (tx) => {
      const inside = tx.collection(accounts);
      await inside.insert({ owner: "ann", balance: 1 });
      const list = [
        { owner: "bob", balance: 1 },
        { owner: "ann", balance: 1 },
      ];
      await expect(inside.insertMany(list)).rejects.toMatchObject({ fields: ["owner"] });
      await expect(inside.insert({ owner: "ann", balance: 2 })).rejects.toMatchObject({
        fields: ["owner"],
      });
      await inside.insert({ owner: "cyd", balance: 1 });
    });
    const owners = await store.collection(accounts).find({ sort: ["owner"] });
    expect(owners.map(({ owner }) => owner)).toEqual(["ann", "cyd"]);
    expect(await store.collection(accounts).count()).toBe(2);
  });

  it("is alone, so that no update of another one is lost", async () => {
    const store = await open({ collections: [accounts] });
    const { id } = await store.collection(accounts).insert({ owner: "ann", balance: 0 });
    const addOne = () =>
      store.transaction(async (tx) => {
        const account = await tx.collection(accounts).get(id);
        await Promise.resolve();
        await tx.collection(accounts).update(id, { balance: (account?.balance ?? 0) + 1 });
      });
    const plain = () =>
      store
        .collection(accounts)
        .update(id, (account) => ({ ...account, balance: account.balance + 1 }));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? plain() : addOne())),
    );
    expect(await store.collection(accounts).get(id)).toMatchObject({ balance: 20, version: 21 });
  });

  // PostgreSQL runs changes that do not meet at the same time.
  it.skipIf(/PostgreSQL|Citus/.test(engine))("takes its turn in the order of asking", async () => {
    const store = await open({ collections: [entries] });
    const order: string[] = [];
    const note = (name: string) => (): void => {
      order.push(name);
    };
    const change = (text: string) => store.collection(entries).insert({ text });
    const seen = () => store.transaction((tx) => tx.collection(entries).count());
    const counts = await Promise.all([
      change("a").then(note("first change")),
      seen().finally(note("first transaction")),
      change("b").then(note("second change")),
      seen().finally(note("second transaction")),
    ]);
    expect(counts).toEqual([undefined, 1, undefined, 2]);
    expect(order).toEqual([
      "first change",
      "first transaction",
      "second change",
      "second transaction",
    ]);
  });

  it("adds what is absent, also when others add the same at the same time", async () => {
    const store = await open({ collections: [accounts] });
    const added = { owner: "ann", balance: 1 };
    const change = ({ owner, balance }: Account): Account => ({ owner, balance: balance + 1 });
    await Promise.all(
      Array.from({ length: 12 }, () =>
        store.transaction((tx) => tx.collection(accounts).upsert(added, { id: "a", change })),
      ),
    );
    expect(await store.collection(accounts).get("a")).toMatchObject({ balance: 12 });
    const again = store.transaction((tx) => tx.collection(accounts).insert(added));
    await expect(again).rejects.toMatchObject({ code: "ERR_DOCUMENTS_UNIQUE", fields: ["owner"] });
  });

  it("ends before the store closes", async () => {
    const store = await openNew({ collections: [accounts, entries] });
    const gate = Promise.withResolvers<undefined>();
    const work = store.transaction(async (tx) => {
      await gate.promise;
      await tx.collection(entries).insert({ text: "in time" });
      return tx.collection(entries).count();
    });
    const write = store.collection(accounts).insert({ owner: "before close", balance: 0 });
    const closing = store.close();
    await expect(store.transaction(() => 1)).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CLOSED",
    });
    gate.resolve(undefined);
    expect(await work).toBe(1);
    expect(await write).toMatchObject({ owner: "before close" });
    await closing;
    await store.close();
    await expect(store.collection(entries).get("x")).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CLOSED",
    });
    await expect(store.collection(entries).insert({ text: "late" })).rejects.toMatchObject({
      code: "ERR_DOCUMENTS_CLOSED",
    });
  });
});
