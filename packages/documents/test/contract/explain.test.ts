import { describe, expect, it } from "vitest";
import {
  administer,
  defineCollection,
  type ExplainOptions,
  type Explanation,
  type FindQuery,
  type ServingIndex,
} from "../../src/index.ts";
import { enginesOfFile } from "../open-for-test.ts";

const engines = enginesOfFile();

interface Task {
  title: string;
  status: string;
  owner?: string;
  email?: string;
  notes?: string;
  tags?: string[];
  place?: { latitude: number; longitude: number };
}

const tasks = defineCollection<Task>("tasks", {
  unique: ["email"],
  indexes: ["status", ["owner", "createdAt"]],
  search: ["title"],
  geo: ["place"],
});

const created: ServingIndex = { kind: "index", fields: ["createdAt"] };
const status: ServingIndex = { kind: "index", fields: ["status"] };
const owner: ServingIndex = { kind: "index", fields: ["owner", "createdAt"] };
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
    "a field without an index beside one that has one",
    { where: { status: "open", notes: "x" } },
    { indexes: [status] },
  ],
  ["words", { q: "milk" }, { indexes: [{ kind: "search", fields: ["title"] }] }],
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
    const explanation = await administer(store).explain(tasks, query, options);
    expect(explanation).toMatchObject({ scans: false, ...expected });
    expect(explanation.plan).not.toBe("");
  });

  it.each(named(unserved))("warns of %s", async (_text, [, query, expected, options]) => {
    const store = await open({ collections: [tasks] });
    const explanation = await administer(store).explain(tasks, query, options);
    expect(explanation).toMatchObject({ scans: true, ...expected });
  });

  it("warns of an order that the index of the filter does not have", async () => {
    const store = await open({ collections: [tasks] });
    const query = { where: { status: "open" }, limit: 10 } as const;
    const { warnings, ...rest } = await administer(store).explain(tasks, query);
    expect(rest).toMatchObject({ indexes: [status], scans: false, sorts: true });
    expect(warnings).toEqual([
      'every document found is sorted by "createdAt", declare indexes: [["status", "createdAt"]] to read them in order',
    ]);
  });

  it("says the same of few documents and of many", async () => {
    const store = await open({ collections: [tasks] });
    const collection = store.collection(tasks);
    const explain = async (): Promise<readonly Omit<Explanation, "plan">[]> => {
      const care = administer(store);
      const found = await Promise.all([
        care.explain(tasks, { where: { owner: "o5" }, limit: 5 }),
        care.explain(tasks, { where: { notes: "n5" } }),
        care.explain(tasks, { sort: ["title"], limit: 5 }),
        care.explain(tasks, { q: "title" }),
      ]);
      return found.map(({ plan: _plan, ...rest }) => rest);
    };
    const before = await explain();
    await collection.insertMany(
      Array.from({ length: 2000 }, (_, index) => ({
        title: `title ${index}`,
        status: index % 2 === 0 ? "open" : "done",
        owner: `o${index % 50}`,
        notes: `n${index % 50}`,
      })),
    );
    expect(await explain()).toEqual(before);
  });

  it("takes a collection of the store, and runs nothing", async () => {
    const store = await open({ collections: [tasks] });
    const collection = store.collection(tasks);
    await collection.insert({ title: "milk", status: "open" });
    const { version } = (await collection.find())[0] ?? {};
    const explanation = await administer(store).explain(collection, { where: { status: "open" } });
    expect(explanation).toMatchObject({ indexes: [status], scans: false });
    expect(await collection.find()).toMatchObject([{ version }]);
  });

  it("refuses what the method would refuse", async () => {
    const store = await open({ collections: [tasks] });
    const care = administer(store);
    const refusal = { code: "ERR_DOCUMENTS_QUERY" };
    await expect(care.explain(tasks, { limit: -1 })).rejects.toMatchObject(refusal);
    const query = { limit: 1 } as const;
    await expect(care.explain(tasks, query, { method: "count" })).rejects.toMatchObject(refusal);
    const wrong: unknown = { method: "insert" };
    const result: unknown = Reflect.apply(care.explain, care, [tasks, {}, wrong]);
    await expect(result).rejects.toMatchObject({ code: "ERR_DOCUMENTS_OPTIONS" });
  });
});
