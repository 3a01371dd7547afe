import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Collection,
  type CollectionDefinition,
  type ChangeRecord,
  defineCollection,
  DocumentsError,
  type Store,
} from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";
import { propertyRuns } from "../property-runs.ts";

const engines = enginesOfFile();

interface Thing {
  key: string;
  n: number;
}

/** What a plain map makes of a collection. */
interface Entry {
  readonly key: string;
  readonly n: number;
  readonly version: number;
  readonly isRemoved: boolean;
}

type Model = Map<string, Entry>;

const options = { unique: ["key"], indexes: ["n"], changes: "documents" } as const;
const hard = defineCollection<Thing>("hard", options);
const soft = defineCollection<Thing>("soft", { ...options, softDelete: true });

const idNames = ["a", "b", "c"] as const;
const keyNames = ["x", "y", "z"] as const;

type Operation =
  | { readonly kind: "insert" | "replace" | "upsert"; readonly id: string; readonly thing: Thing }
  | { readonly kind: "compareAndSet"; readonly id: string; readonly version: number }
  | { readonly kind: "purge" | "remove" | "restore"; readonly id: string }
  | { readonly kind: "removeMany"; readonly n: number };

const id = fc.constantFrom(...idNames);
const thing = fc.record({ key: fc.constantFrom(...keyNames), n: fc.integer({ min: 0, max: 3 }) });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constantFrom("insert", "replace", "upsert"), id, thing }),
  fc.record({
    kind: fc.constant("compareAndSet" as const),
    id,
    version: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ kind: fc.constantFrom("purge", "remove", "restore"), id }),
  fc.record({ kind: fc.constant("removeMany" as const), n: fc.integer({ min: 0, max: 3 }) }),
);

/** Does an operation in the model, and says what it comes to. */
function apply(model: Model, operation: Operation, isSoft: boolean): unknown {
  const find = (wanted: string): Entry | undefined => {
    const entry = model.get(wanted);
    return entry?.isRemoved === false ? entry : undefined;
  };
  const isTaken = (own: string, key: string): boolean =>
    [...model].some(([other, entry]) => other !== own && !entry.isRemoved && entry.key === key);
  const put = (own: string, entry: Entry): unknown => {
    if (isTaken(own, entry.key)) return "ERR_DOCUMENTS_UNIQUE";
    model.set(own, entry);
    return entry.version;
  };
  const drop = (own: string, entry: Entry): void => {
    if (isSoft) model.set(own, { ...entry, isRemoved: true, version: entry.version + 1 });
    else model.delete(own);
  };
  if (operation.kind === "removeMany") {
    const matching = [...model].filter(([, entry]) => !entry.isRemoved && entry.n === operation.n);
    for (const [own, entry] of matching) drop(own, entry);
    return matching.length;
  }
  const current = find(operation.id);
  const removed = current === undefined ? model.get(operation.id) : undefined;
  switch (operation.kind) {
    case "insert":
      if (model.has(operation.id)) return "ERR_DOCUMENTS_UNIQUE";
      return put(operation.id, { ...operation.thing, version: 1, isRemoved: false });
    case "upsert": {
      const version = ((current ?? removed)?.version ?? 0) + 1;
      return put(operation.id, { ...operation.thing, version, isRemoved: false });
    }
    case "replace":
      if (current === undefined) return "nothing";
      return put(operation.id, { ...current, ...operation.thing, version: current.version + 1 });
    case "compareAndSet":
      if (current === undefined) return "nothing";
      if (current.version !== operation.version) return "ERR_DOCUMENTS_VERSION";
      return put(operation.id, { ...current, n: current.n + 1, version: current.version + 1 });
    case "remove":
      if (current === undefined) return false;
      drop(operation.id, current);
      return true;
    case "restore":
      if (!isSoft) return "ERR_DOCUMENTS_DEFINITION";
      if (removed === undefined) return "nothing";
      return put(operation.id, { ...removed, isRemoved: false, version: removed.version + 1 });
    default:
      if (!isSoft) return "ERR_DOCUMENTS_DEFINITION";
      return removed === undefined ? false : model.delete(operation.id);
  }
}

/** Does an operation in the store, and says what it comes to. */
async function perform(collection: Collection<Thing>, operation: Operation): Promise<unknown> {
  try {
    switch (operation.kind) {
      case "insert":
        return (await collection.insert(operation.thing, { id: operation.id })).version;
      case "upsert":
        return (await collection.upsert(operation.thing, { id: operation.id })).version;
      case "replace":
        return (await collection.replace(operation.id, operation.thing))?.version ?? "nothing";
      case "compareAndSet": {
        const { version } = operation;
        const add = (stored: Thing): Thing => ({ ...stored, n: stored.n + 1 });
        const changed = await collection.update(operation.id, add, { ifVersion: version });
        return changed?.version ?? "nothing";
      }
      case "remove":
        return await collection.remove(operation.id);
      case "removeMany":
        return await collection.removeMany({ where: { n: operation.n } });
      case "restore":
        return (await collection.restore(operation.id))?.version ?? "nothing";
      default:
        return await collection.purge(operation.id);
    }
  } catch (error) {
    if (error instanceof DocumentsError || error instanceof TypeError) {
      return Reflect.get(error, "code");
    }
    throw error;
  }
}

async function stateOf(collection: Collection<Thing>): Promise<Model> {
  const all = await collection.find({ deleted: "include" });
  return new Map(
    all.map((one) => {
      const { id: own, key, n, version } = one;
      return [own, { key, n, version, isRemoved: "deletedAt" in one }];
    }),
  );
}

/** Makes the state of nothing but the feed. */
function replay(changes: readonly ChangeRecord[]): Model {
  const model: Model = new Map();
  for (const { id: own, kind, version, document } of changes) {
    if (document === undefined) model.delete(own);
    else {
      const { key, n } = document;
      model.set(own, {
        key: String(key),
        n: Number(n),
        version,
        isRemoved: kind === "remove",
      });
    }
  }
  return model;
}

async function empty(store: Store, definition: CollectionDefinition<Thing>): Promise<void> {
  await store.collection(definition).removeMany({ where: {} });
  if (definition.softDelete === true) await store.collection(definition).purgeMany();
  await store.trimChanges({ before: "9999-01-01T00:00:00.000Z" });
}

describe.each(engines)("A store in %s", (_name, open) => {
  describe.each([
    ["", hard],
    [" with soft deletion", soft],
  ])("and a plain map%s", (_text, definition) => {
    it("come to the same by any operations, one after the other, and so does the feed", async () => {
      const store = await open({ collections: [definition] });
      const collection = store.collection(definition);
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 25 }), async (operations) => {
          await empty(store, definition);
          const model: Model = new Map();
          const isSoft = definition.softDelete === true;
          for (const each of operations) {
            const expected = apply(model, each, isSoft);
            expect({ each, outcome: await perform(collection, each) }).toEqual({
              each,
              outcome: expected,
            });
          }
          expect(await stateOf(collection)).toEqual(model);
          const live = [...model.values()].filter(({ isRemoved }) => !isRemoved);
          expect(await collection.count()).toBe(live.length);
          const changes: ChangeRecord[] = [];
          for await (const change of store.changes({ atEnd: "end" })) changes.push(change);
          expect(replay(changes)).toEqual(model);
        }),
        { numRuns: propertyRuns(25, 60) },
      );
    });
  });

  it("loses no update and breaks no unique field with many clients at once", async () => {
    const store = await open({ collections: [soft] });
    const collection = store.collection(soft);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { maxLength: 8 }), { minLength: 2, maxLength: 6 }),
        async (clients) => {
          await empty(store, soft);
          await Promise.all(
            clients.map(async (operations) => {
              for (const each of operations) await perform(collection, each);
            }),
          );
          const changes: ChangeRecord[] = [];
          for await (const change of store.changes({ atEnd: "end" })) changes.push(change);
          // Each version of a document follows the one before: no change was made of an older one.
          const versions = new Map<string, number>();
          const gone = new Set<string>();
          for (const { id: own, kind, version } of changes) {
            const before = versions.get(own) ?? 0;
            if (kind === "purge") gone.add(own);
            else if (kind === "insert") {
              expect(before === 0 || gone.delete(own)).toBe(true);
              expect(version).toBe(1);
            } else expect(version).toBe(before + 1);
            versions.set(own, version);
          }
          const state = await stateOf(collection);
          expect(replay(changes)).toEqual(state);
          const keys = [...state.values()].flatMap((one) => (one.isRemoved ? [] : [one.key]));
          expect(new Set(keys).size).toBe(keys.length);
        },
      ),
      { numRuns: propertyRuns(15, 40) },
    );
  });

  it(
    "keeps the sum of accounts between which many clients transfer in transactions",
    { timeout: 60_000 },
    async () => {
      const store = await open({ collections: [hard] });
      const accounts = store.collection(hard);
      await Promise.all(idNames.map((own) => accounts.insert({ key: own, n: 100 }, { id: own })));
      const sum = (all: readonly { readonly n: number }[]): number =>
        all.reduce((total, { n }) => total + n, 0);
      const transfer = fc.record({ from: id, to: id, amount: fc.integer({ min: 1, max: 50 }) });
      await fc.assert(
        fc.asyncProperty(fc.array(transfer, { minLength: 4, maxLength: 12 }), async (transfers) => {
          const reads: Promise<unknown>[] = [];
          const writes = transfers.map(({ from, to, amount }) => {
            const done = store.transaction(async (tx) => {
              const inside = tx.collection(hard);
              const first = await inside.get(from);
              if (first === undefined || first.n < amount) throw new Error("poor");
              await inside.update(from, { n: first.n - amount });
              const second = await inside.get(to);
              await inside.update(to, { n: (second?.n ?? 0) + amount });
              // Nothing of others is seen, and nothing changes between two reads.
              expect(sum(await inside.find())).toBe(300);
              expect(await inside.get(to)).toMatchObject({ n: (second?.n ?? 0) + amount });
            });
            reads.push(accounts.find().then((all) => expect(sum(all)).toBe(300)));
            return done.catch((error: unknown) => {
              if (!(error instanceof Error && error.message === "poor")) throw error;
            });
          });
          await Promise.all([...writes, ...reads]);
          const all = await accounts.find();
          expect(sum(all)).toBe(300);
          expect(all.every(({ n }) => n >= 0)).toBe(true);
        }),
        { numRuns: propertyRuns(3, 8) },
      );
    },
  );
});
