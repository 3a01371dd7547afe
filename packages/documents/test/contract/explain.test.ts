import { describe, expect, it, vi } from "vitest";
import {
  administer,
  defineCollection,
  type Explanation,
  type FindQuery,
  openStore,
  type Store,
  type UnindexedQuery,
} from "../../src/index.ts";
import type { ExplainOptions, ServingIndex } from "../../src/api/explanation.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Task {
  title: string;
  status: string;
  owner?: string;
  email?: string;
  notes?: string;
  tags?: string[];
  labels?: string[];
  place?: { latitude: number; longitude: number };
}

const tasks = defineCollection<Task>("tasks", {
  unique: ["email"],
  indexes: ["status", "tags", ["owner", "createdAt"]],
  search: ["title"],
  geo: ["place"],
});

const created: ServingIndex = { kind: "index", fields: ["createdAt"] };
const status: ServingIndex = { kind: "index", fields: ["status"] };
const tags: ServingIndex = { kind: "index", fields: ["tags"] };
const owner: ServingIndex = { kind: "index", fields: ["owner", "createdAt"] };
const search: ServingIndex = { kind: "search", fields: ["title"] };
const near = { field: "place", latitude: 52, longitude: 13 } as const;

type Case = readonly [
  name: string,
  query: FindQuery<Task> & { readonly total?: "exact" },
  expected: Partial<Explanation>,
  options?: ExplainOptions,
];

const served: readonly Case[] = [
  ["the default order", { limit: 10 }, { indexes: [created], sorts: false }],
  ["an indexed order", { sort: ["status"], limit: 10 }, { indexes: [status], sorts: false }],
  ["an indexed order from its end", { sort: ["-status"], limit: 10 }, { indexes: [status] }],
  ["a filter by an indexed field", { where: { status: "open" } }, { indexes: [status] }],
  [
    "a filter by several values",
    { where: { status: { in: ["open", "done"] } } },
    { indexes: [status] },
  ],
  [
    "a range",
    { where: { status: { gt: "a" } }, sort: ["status"] },
    { indexes: [status], sorts: false },
  ],
  ["a prefix", { where: { status: { prefix: "op" } } }, { indexes: [status] }],
  [
    "a filter and an order in one index",
    { where: { owner: "x" }, limit: 5 },
    { indexes: [owner], sorts: false },
  ],
  [
    "a unique field",
    { where: { email: "a@b.c" } },
    { indexes: [{ kind: "unique", fields: ["email"] }] },
  ],
  ["an id", { where: { id: "x" } }, { indexes: [{ kind: "unique", fields: ["id"] }] }],
  [
    "alternatives that are all indexed",
    { where: { or: [{ status: "open" }, { email: "a@b.c" }] } },
    {},
  ],
  [
    "a field without an index next to one that has one",
    { where: { status: "open", notes: "x" } },
    { indexes: [status] },
  ],
  ["a member of a list", { where: { tags: { contains: "a" } }, limit: 9 }, { indexes: [tags] }],
  [
    "a member of a list next to another field",
    { where: { tags: { containsAny: ["a", "b"] }, notes: "x" }, sort: ["status"], limit: 9 },
    { indexes: [tags], sorts: false },
  ],
  [
    "a member of a list in an order without an index",
    { where: { tags: { contains: "a" } }, sort: ["notes"] },
    { indexes: [tags], sorts: true },
  ],
  [
    "a count of members of lists",
    { where: { tags: { contains: "a" } } },
    { indexes: [tags] },
    { method: "count" },
  ],
  ["words", { q: "milk" }, { indexes: [search] }],
  ["words with a limit", { q: "milk", limit: 10 }, { indexes: [search], sorts: false }],
  ["short words with a limit", { q: "mi", limit: 10 }, { indexes: [search], sorts: false }],
  ["words in an indexed order", { q: "mi", sort: ["status"], limit: 10 }, { indexes: [search] }],
  ["words in another order", { q: "mi", sort: ["notes"], limit: 10 }, { sorts: true }],
  ["a page of words with its total", { q: "mi", total: "exact" }, {}, { method: "page" }],
  ["a count of words", { q: "milk" }, { indexes: [search] }, { method: "count" }],
  ["a place", { near, limit: 3 }, { indexes: [{ kind: "geo", fields: ["place"] }] }],
  [
    "a distance",
    { near: { ...near, maxDistance: 500 } },
    { indexes: [{ kind: "geo", fields: ["place"] }] },
    { method: "count" },
  ],
  [
    "a count",
    { where: { status: "open" } },
    { indexes: [status], sorts: false },
    { method: "count" },
  ],
  [
    "a page with its total",
    { where: { owner: "x" }, total: "exact" },
    { indexes: [owner] },
    { method: "page" },
  ],
];

const unserved: readonly Case[] = [
  [
    "a filter by a field without an index",
    { where: { notes: "x" } },
    {
      indexes: [],
      warnings: [
        'no index serves the filter by "notes": every document of "tasks" is read, declare indexes: ["notes"]',
      ],
    },
  ],
  [
    "a filter by two fields without an index",
    { where: { notes: "x", title: "y" } },
    {
      warnings: [
        'no index serves the filter by "notes", "title": every document of "tasks" is read, declare indexes: [["notes", "title"]]',
      ],
    },
  ],
  [
    "alternatives of which one has no index",
    { where: { or: [{ status: "open" }, { notes: "x" }] } },
    {
      warnings: [
        'no index serves the filter by "status", "notes": every document of "tasks" is read, declare indexes: ["notes"]',
      ],
    },
  ],
  [
    "a count by a field without an index",
    { where: { notes: { gte: "x" } } },
    {
      indexes: [],
      warnings: [
        'no index serves the filter by "notes": every document of "tasks" is read, declare indexes: ["notes"]',
      ],
    },
    { method: "count" },
  ],
  [
    "a member of a list without an index",
    { where: { labels: { contains: "a" } } },
    {
      indexes: [],
      warnings: [
        'no index serves the filter by "labels": every document of "tasks" is read, declare indexes: ["labels"]',
      ],
    },
  ],
  [
    "what no index can serve",
    { where: { notes: { exists: true } } },
    {
      indexes: [],
      warnings: ['no index can serve this filter by "notes": every document of "tasks" is read'],
    },
  ],
  [
    "an order without an index",
    { sort: ["title"], limit: 10 },
    {
      indexes: [],
      sorts: true,
      warnings: [
        'no index serves the order by "title": every document of "tasks" is read and sorted, declare indexes: ["title"]',
      ],
    },
  ],
];

function named(cases: readonly Case[]): readonly (readonly [name: string, one: Case])[] {
  return cases.map((one) => [one[0], one]);
}

describe.each(engines)("explain() in %s", (_name, open) => {
  it.each(named(served))("names the index of %s", async (_text, [, query, expected, options]) => {
    const store = await open({ collections: [tasks] });
    const explanation = administer(store).explain(tasks, query, options);
    expect(explanation).toMatchObject({ scans: false, ...expected });
  });

  it.each(named(unserved))("warns of %s", async (_text, [, query, expected, options]) => {
    const store = await open({ collections: [tasks] });
    const explanation = administer(store).explain(tasks, query, options);
    expect(explanation).toMatchObject({ scans: true, ...expected });
  });

  it("warns of an order that the index of the filter does not have", async () => {
    const store = await open({ collections: [tasks] });
    const query = { where: { status: "open" }, sort: ["title"], limit: 10 } as const;
    const { warnings, ...rest } = administer(store).explain(tasks, query);
    expect(rest).toMatchObject({ indexes: [status], scans: false, sorts: true });
    expect(warnings).toEqual([
      'every document found is sorted by "title", declare indexes: [["status", "title"]] to read them in order',
    ]);
  });

  it("does not warn of an order that documents are taken in while many match the filter", async () => {
    const store = await open({ collections: [tasks] });
    const explain = (query: FindQuery<Task>): Explanation =>
      administer(store).explain(tasks, query);
    const inOrder = { scans: false, sorts: false, warnings: [] };
    expect(explain({ where: { status: "open" }, limit: 10 })).toMatchObject(inOrder);
    expect(explain({ where: { status: "open" } })).toMatchObject({ sorts: true });
    const either = { or: [{ status: "open" }, { email: "a@b.c" }] };
    expect(explain({ where: either, limit: 10 })).toMatchObject({ sorts: true });
  });

  it("says the same of few documents and of many", async () => {
    const store = await open({ collections: [tasks] });
    const collection = store.collection(tasks);
    const care = administer(store);
    const explain = (): readonly Explanation[] => [
      care.explain(tasks, { where: { owner: "o5" }, limit: 5 }),
      care.explain(tasks, { where: { status: "open" }, limit: 20 }),
      care.explain(tasks, { where: { notes: "n5" } }),
      care.explain(tasks, { sort: ["title"], limit: 5 }),
      care.explain(tasks, { q: "title" }),
    ];
    const before = explain();
    await collection.insertMany(
      Array.from({ length: 2000 }, (_, index) => ({
        title: `title ${index}`,
        status: index % 2 === 0 ? "open" : "done",
        owner: `o${index % 50}`,
        notes: `n${index % 50}`,
      })),
    );
    expect(explain()).toEqual(before);
  });

  it("takes a collection of the store, and runs nothing", async () => {
    const store = await open({ collections: [tasks] });
    const collection = store.collection(tasks);
    await collection.insert({ title: "milk", status: "open" });
    const { version } = (await collection.find())[0] ?? {};
    const explanation = administer(store).explain(collection, { where: { status: "open" } });
    expect(explanation).toMatchObject({ indexes: [status], scans: false });
    expect(await collection.find()).toMatchObject([{ version }]);
  });

  it("refuses what the method would refuse", async () => {
    const store = await open({ collections: [tasks] });
    const care = administer(store);
    const refusal = { code: "ERR_DOCUMENTS_QUERY" };
    const tooFew = { limit: -1 };
    expect(() => care.explain(tasks, tooFew)).toThrow(expect.objectContaining(refusal));
    const query = { limit: 1 } as const;
    expect(() => care.explain(tasks, query, { method: "count" })).toThrow(
      expect.objectContaining(refusal),
    );
    const wrong: unknown = { method: "insert" };
    const explain = (): unknown => Reflect.apply(care.explain, care, [tasks, {}, wrong]);
    expect(explain).toThrow(expect.objectContaining({ code: "ERR_DOCUMENTS_OPTIONS" }));
  });
});

describe.each(engines)("onUnindexedQuery in %s", (_name, _open, openNew) => {
  const open = async (): Promise<{
    readonly store: Store;
    readonly reported: readonly UnindexedQuery[];
    readonly settled: (count: number) => Promise<void>;
  }> => {
    const reported: UnindexedQuery[] = [];
    const onUnindexedQuery = (query: UnindexedQuery): void => {
      reported.push(query);
    };
    const store = await openNew({ collections: [tasks], onUnindexedQuery });
    const settled = async (count: number): Promise<void> => {
      await vi.waitFor(() => {
        expect(reported).toHaveLength(count);
      });
    };
    return { store, reported, settled };
  };

  it("receives each form of query that no index serves once", async () => {
    const { store, reported, settled } = await open();
    const collection = store.collection(tasks);
    await collection.find({ where: { status: "open" } });
    await collection.find({ where: { notes: "a" } });
    await collection.find({ where: { notes: "b" } });
    await settled(1);
    expect(reported).toMatchObject([
      {
        collection: "tasks",
        indexes: [],
        scans: true,
        warnings: [
          'no index serves the filter by "notes": every document of "tasks" is read, declare indexes: ["notes"]',
        ],
      },
    ]);
    await collection.page({ sort: ["title"], total: "exact" });
    await settled(2);
    await collection.count({ where: { labels: { exists: true } } });
    await settled(3);
    await collection.removeMany({ where: { title: "a" } });
    await settled(4);
    await collection.claim({ where: { title: "a", notes: "a" } });
    await settled(5);
    await collection.find({ where: { notes: "c" } });
    await collection.count({ where: { notes: { gt: "b" } } });
    await collection.get("x");
    await collection.find({ limit: 3 });
    await store.close();
    expect(reported).toHaveLength(5);
  });

  it("receives a query inside a transaction, and none that is refused", async () => {
    const { store, reported, settled } = await open();
    await store.transaction(async (transaction) => {
      await transaction.collection(tasks).find({ where: { notes: "a" } });
    });
    await settled(1);
    const wrong = store.collection(tasks).find({ near: { ...near, field: "status" } });
    await expect(wrong).rejects.toMatchObject({ code: "ERR_DOCUMENTS_QUERY" });
    expect(reported).toHaveLength(1);
  });
});

describe("onUnindexedQuery", () => {
  it("must be a function", async () => {
    const options: unknown = { onUnindexedQuery: true };
    const result: unknown = Reflect.apply(openStore, undefined, ["sqlite::memory:", options]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
  });
});
