import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { ListOptions } from "../../src/resource/list-options.ts";
import { listParameter } from "../../src/resource/list-parameter.ts";
import { type Answer, openResource } from "../resource-client.ts";

const schema = z.object({
  title: z.string(),
  stars: z.int().optional(),
  tags: z.array(z.string()).default([]),
  pin: z.string().optional(),
});

function defineNotes(list: ListOptions = {}) {
  return defineResource({
    name: "note",
    path: "/notes",
    schema,
    access: { list: "public", show: "public", create: "public", remove: "public" },
    search: ["title"],
    sort: ["title", "stars"],
    filter: ["title", "stars", "tags", "createdAt", "id"],
    fields: { pin: { read: "nobody" } },
    list,
  });
}

const notes = [
  { title: "Ant", stars: 1, tags: ["a"], pin: "1111" },
  { title: "Bee", stars: 2, tags: ["a", "b"], pin: "2222" },
  { title: "Cat", tags: [], pin: "1111" },
  { title: "Dog", stars: 5, tags: ["b"], pin: "2222" },
];

/** More than are counted where something narrows a list. */
const manyNotes = Array.from({ length: 1100 }, (_, index) => ({
  title: `Note ${index}`,
  stars: 3,
  tags: [],
}));

async function openNotes(list?: ListOptions) {
  const client = await openResource(defineNotes(list));
  for (const note of notes) {
    expect((await client.as("", "POST", "/notes", note)).status).toBe(201);
  }
  return {
    ...client,
    list: (query = "", headers = {}) => client.as("", "GET", `/notes${query}`, undefined, headers),
  };
}

function titles({ json }: Answer): string {
  return json.map(({ title }: { title: string }) => title).join(" ");
}

/** Targets of a `Link` header by relation. */
function links({ headers }: Answer): Readonly<Record<string, string>> {
  const all = (headers.get("link") ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g);
  return Object.fromEntries([...all].map(([, target = "", relation = ""]) => [relation, target]));
}

describe("the list of a resource", () => {
  it.each([
    "pin=1111",
    "pin[prefix]=1",
    "where[pin]=1111",
    "pin[exists]=true",
    "__proto__=1",
    "constructor[prefix]=a",
    "owner=1",
    "stars[regex]=.*",
    "filter[stars]=1",
    "near=1,2",
    "trash=only",
  ])("refuses %s as unknown", async (query) => {
    const { list } = await openNotes();
    const refused = await list(`?${query}`);
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ name: "unknown", valid: false });
  });

  it.each([
    ["sort=pin", "sort"],
    ["fields=pin", "fields"],
    ["sort=-pin", "sort"],
  ])("refuses %s and tells nothing of what is secret", async (query, param) => {
    const { list } = await openNotes();
    const refused = await list(`?${query}`);
    expect(refused.json).toMatchObject({ status: 400, param, name: "enum" });
    expect(JSON.stringify(refused.json)).not.toContain("pin");
  });

  it("names all parameters that are unknown or wrong", async () => {
    const { list } = await openNotes();
    const { json } = await list("?nope=1&stars=x&page=0");
    expect(json.errors.map(({ param }: { param: string }) => param)).toEqual([
      "nope",
      "page",
      "stars",
    ]);
  });

  it.each([
    ["stars=2", "Bee"],
    ["stars[ne]=2", "Ant Cat Dog"],
    ["stars[gte]=2", "Bee Dog"],
    ["stars[gt]=1&stars[lt]=5", "Bee"],
    ["stars[in]=1,5", "Ant Dog"],
    ["stars[nin]=1,5", "Bee Cat"],
    ["stars[exists]=false", "Cat"],
    ["stars[exists]=true", "Ant Bee Dog"],
    ["title=Ant", "Ant"],
    ["title=ant", ""],
    ["title[prefix]=C", "Cat"],
    ["tags=a", "Ant Bee"],
    ["tags[contains]=b", "Bee Dog"],
    ["tags[in]=a,b", "Ant Bee Dog"],
    ["tags[nin]=a", "Cat Dog"],
    ["tags=a&tags[contains]=b", "Bee"],
    ["q=dog&stars[gte]=1", "Dog"],
    ["createdAt[gt]=2020-01-01", "Ant Bee Cat Dog"],
    ["createdAt[gt]=2999-01-01T00:00:00Z", ""],
    ["id=none", ""],
  ])("filters by %s", async (query, expected) => {
    const { list } = await openNotes();
    const found = await list(`?${query}&sort=title`);
    expect([found.status, titles(found)]).toEqual([200, expected]);
    const count = expected === "" ? 0 : expected.split(" ").length;
    expect(found.headers.get("x-total-count")).toBe(String(count));
  });

  it.each([
    [1, "Ant Bee", "3"],
    [2, "Dog", "3"],
    [3, "", "3"],
  ])("counts what is on other pages than %i", async (page, expected, total) => {
    for (const count of ["exact", 100] as const) {
      const { list } = await openNotes({ count });
      const found = await list(`?stars[gte]=1&sort=title&limit=2&page=${page}`);
      expect([titles(found), found.headers.get("x-total-count")]).toEqual([expected, total]);
      expect(links(found)["last"]).toBe("/notes?stars%5Bgte%5D=1&sort=title&page=2&limit=2");
    }
  });

  it("counts up to 1,000 of a filter or a search, and all where nothing narrows the list", async () => {
    const { list, store } = await openNotes();
    await store.collection(defineNotes().collection).insertMany(manyNotes);
    const capped = async (query: string): Promise<unknown> => {
      const { headers } = await list(query);
      return [headers.get("x-total-count"), headers.get("x-total-count-capped")];
    };
    expect(await capped("")).toEqual(["1104", null]);
    expect(await capped("?after=")).toEqual(["1104", null]);
    expect(await capped("?stars=3")).toEqual(["1000", "true"]);
    expect(await capped("?q=note&page=2")).toEqual(["1000", "true"]);
    expect(await capped("?stars=3&after=")).toEqual(["1000", "true"]);
    expect(await capped("?stars=3&page=11&limit=100")).toEqual(["1000", "true"]);
    expect(await capped("?stars=5")).toEqual(["1", null]);
    expect(Object.keys(links(await list("?stars=3")))).toEqual(["first", "next"]);
    expect(Object.keys(links(await list("")))).toEqual(["first", "next", "last"]);
    const last = await list("?stars=3&page=11&limit=100");
    expect(Object.keys(links(last))).toEqual(["first", "prev"]);
  });

  it("counts all of a filter where the resource says so", async () => {
    const { list, store } = await openNotes({ count: "exact", shape: "rows" });
    await store.collection(defineNotes().collection).insertMany(manyNotes);
    const { headers, json } = await list("?stars=3");
    expect([json.count, headers.get("x-total-count")]).toEqual([1100, "1100"]);
    expect(headers.has("x-total-count-capped")).toBe(false);
  });

  it("counts in rows what it counts in the header", async () => {
    const { list, store } = await openNotes({ shape: "rows" });
    await store.collection(defineNotes().collection).insertMany(manyNotes);
    const { headers, json } = await list("?stars=3");
    expect([json.count, headers.get("x-total-count-capped")]).toEqual([1000, "true"]);
  });

  it("caps the count of a last page too", async () => {
    const { list } = await openNotes({ count: 3 });
    const last = await list("?createdAt[gt]=2020-01-01&sort=title&limit=2&page=2");
    expect(titles(last)).toBe("Cat Dog");
    expect(last.headers.get("x-total-count")).toBe("3");
    expect(last.headers.get("x-total-count-capped")).toBe("true");
    expect(Object.keys(links(last))).toEqual(["first", "prev"]);
  });

  it("keeps filters in the links", async () => {
    const { list } = await openNotes();
    const found = await list("?stars[gte]=1&limit=2&sort=title");
    expect(links(found)["next"]).toBe("/notes?stars%5Bgte%5D=1&sort=title&page=2&limit=2");
    expect(titles(await list(links(found)["next"]?.slice("/notes".length)))).toBe("Dog");
  });
});

describe("a list that is paged by cursors", () => {
  it("is followed to its end, however many documents come and go in the meantime", async () => {
    const { as, list } = await openNotes();
    const first = await list("?after=&limit=2&sort=-title&fields=title");
    expect(titles(first)).toBe("Dog Cat");
    expect(Object.keys(links(first))).toEqual(["first", "next"]);
    await as("", "POST", "/notes", { title: "Elk" });
    const second = await list(links(first)["next"]?.slice("/notes".length));
    expect(titles(second)).toBe("Bee Ant");
    expect(Object.keys(links(second))).toEqual(["first"]);
    expect(second.json[0]).toEqual({ id: expect.any(String), title: "Bee" });
    const again = await list(links(second)["first"]?.slice("/notes".length));
    expect(titles(again)).toBe("Elk Dog");
  });

  it("takes filters and a search along", async () => {
    const { list } = await openNotes();
    const first = await list("?after=&limit=1&sort=title&stars[gte]=1");
    const second = await list(links(first)["next"]?.slice("/notes".length));
    expect([titles(first), titles(second)]).toEqual(["Ant", "Bee"]);
    expect(second.headers.get("x-total-count")).toBe("3");
  });

  it.each([
    ["after=x", "after", "invalid"],
    ["after=x&after=y", "after", "once"],
    ["after=&page=2", "page", "mixed"],
    [`after=${"x".repeat(5000)}`, "after", "maxlength"],
  ])("refuses %s", async (query, param, name) => {
    const { list } = await openNotes();
    expect((await list(`?${query}`)).json).toMatchObject({ status: 400, param, name });
  });

  it("refuses the cursor of another order", async () => {
    const { list } = await openNotes();
    const cursor = /after=([\w-]+)/.exec(links(await list("?after=&limit=1"))["next"] ?? "")?.[1];
    expect((await list(`?after=${cursor}&limit=1`)).status).toBe(200);
    const refused = await list(`?after=${cursor}&limit=1&sort=title`);
    expect(refused.json).toMatchObject({ status: 400, param: "after", name: "invalid" });
  });

  it("begins without being told where there are no numbered pages", async () => {
    const { list } = await openNotes({ pages: false });
    const first = await list("?limit=3&sort=title");
    expect(titles(first)).toBe("Ant Bee Cat");
    expect(titles(await list(links(first)["next"]?.slice("/notes".length)))).toBe("Dog");
    expect((await list("?page=2")).status).toBe(400);
  });
});

describe("the answer of a list", () => {
  it("has rows and count where the resource says so", async () => {
    const { list } = await openNotes({ shape: "rows" });
    const { json } = await list("?limit=1&fields=title&sort=title");
    expect(json).toEqual({ rows: [{ id: expect.any(String), title: "Ant" }], count: 4 });
  });

  it("is not counted where the resource says so, and still knows its next page", async () => {
    const { list } = await openNotes({ count: "none", shape: "rows" });
    const first = await list("?limit=2&sort=title");
    expect(first.headers.has("x-total-count")).toBe(false);
    expect(Object.keys(first.json)).toEqual(["rows"]);
    expect(first.json.rows).toHaveLength(2);
    expect(Object.keys(links(first))).toEqual(["first", "next"]);
    expect(Object.keys(links(await list("?limit=2&page=2")))).toEqual(["first", "prev"]);
  });

  it("is counted up to a number, and says when there are more", async () => {
    const { list } = await openNotes({ count: 3 });
    const some = await list("?limit=2");
    expect(some.headers.get("x-total-count")).toBe("3");
    expect(some.headers.get("x-total-count-capped")).toBe("true");
    expect(Object.keys(links(some))).toEqual(["first", "next"]);
    const few = await list("?stars[gte]=1&limit=2");
    expect(few.headers.get("x-total-count")).toBe("3");
    expect(few.headers.has("x-total-count-capped")).toBe(false);
    expect(Object.keys(links(few))).toEqual(["first", "next", "last"]);
  });

  it("has limits and a separate order", async () => {
    const { list } = await openNotes({ limit: { default: 2, max: 3 }, sort: ["-title"] });
    expect(titles(await list())).toBe("Dog Cat");
    expect((await list("?limit=4")).json).toMatchObject({
      status: 400,
      param: "limit",
      name: "max",
    });
  });

  it("follows parameters of the resource's own", async () => {
    const rating = listParameter({
      schema: z.enum(["good", "bad"]),
      where: (value) => ({ stars: value === "good" ? { gte: 3 } : { lt: 3 } }),
    });
    const { list } = await openNotes({ parameters: { rating } });
    expect(titles(await list("?rating=good"))).toBe("Dog");
    expect(titles(await list("?rating=bad&sort=title"))).toBe("Ant Bee");
    const refused = await list("?rating=ugly");
    expect(refused.json).toMatchObject({ status: 400, param: "rating", name: "enum" });
  });

  it("is not sent again to who has it, until something in it changes", async () => {
    const { as, list } = await openNotes();
    const first = await list("?limit=2");
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[\w-]{27}"$/);
    const again = await list("?limit=2", { "if-none-match": etag });
    expect([again.status, again.json]).toEqual([304, undefined]);
    expect(again.headers.get("etag")).toBe(etag);
    expect(again.headers.get("x-total-count")).toBe("4");
    expect(again.headers.has("content-type")).toBe(false);
    const { json } = await list("?sort=title&limit=1"); // On another page than the first.
    await as("", "DELETE", `/notes/${json[0].id}`);
    expect((await list("?limit=2", { "if-none-match": etag })).status).toBe(200);
  });

  it("is sent again when one document on it changes", async () => {
    const { as, list, store } = await openNotes();
    const { headers, json } = await list();
    await store.collection(defineNotes().collection).update(json[2].id, { stars: 3 });
    const etag = headers.get("etag") ?? "";
    expect((await list("", { "if-none-match": etag })).status).toBe(200);
    expect((await as("", "GET", "/notes", undefined, { "if-none-match": "*" })).status).toBe(304);
  });

  it("is compared as a whole where a hook decides what is shown", async () => {
    let word = "a";
    const said = defineResource({
      name: "note",
      path: "/notes",
      schema,
      access: { list: "public", create: "public" },
      hooks: { afterList: ({ rows }) => rows.map((row) => ({ ...row, word })) },
    });
    const { as } = await openResource(said);
    await as("", "POST", "/notes", { title: "Ant" });
    const etag = (await as("", "GET", "/notes")).headers.get("etag") ?? "";
    const again = { "if-none-match": etag };
    expect((await as("", "GET", "/notes", undefined, again)).status).toBe(304);
    word = "b";
    expect((await as("", "GET", "/notes", undefined, again)).status).toBe(200);
  });
});

const cafe = defineResource({
  name: "cafe",
  path: "/cafes",
  schema: z.object({
    name: z.string(),
    kind: z.enum(["bar", "cafe"]).default("cafe"),
    place: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
  }),
  access: { list: "public", create: "public" },
  filter: ["kind"],
  geo: "place",
});

describe("a list of places", () => {
  async function openCafes() {
    const client = await openResource(cafe);
    const add = async (name: string, latitude: number, longitude: number, kind = "cafe") =>
      client.as("", "POST", "/cafes", { name, kind, place: { latitude, longitude } });
    await add("North", 0.02, 0);
    await add("Here", 0, 0);
    await add("East", 0, 0.01, "bar");
    await add("Far", 10, 10);
    await client.as("", "POST", "/cafes", { name: "Nowhere" });
    return async (query: string) => {
      const { headers, json, status } = await client.as("", "GET", `/cafes?${query}`);
      const names =
        status === 200 ? json.map(({ name }: { name: string }) => name).join(" ") : json;
      return { names, total: headers.get("x-total-count"), link: headers.get("link") ?? "" };
    };
  }

  it.each([
    ["near=0,0", "Here East North Far", "4"],
    ["near=0,0&max_distance=2000", "Here East", "2"],
    ["near=0,0&min_distance=1&max_distance=5000", "East North", "2"],
    ["near=0,0&kind=cafe", "Here North Far", "3"],
    ["near=0,0&limit=2&page=2", "North Far", "4"],
  ])("answers %s with the nearest first", async (query, names, total) => {
    const list = await openCafes();
    expect(await list(query)).toMatchObject({ names, total });
  });

  it("is paged by cursors too", async () => {
    const list = await openCafes();
    const first = await list("near=0,0&after=&limit=2");
    expect(first.names).toBe("Here East");
    const next = /\?([^>]*)>; rel="next"/.exec(first.link)?.[1] ?? "";
    expect(await list(next)).toMatchObject({ names: "North Far" });
  });

  it("has no other order", async () => {
    const list = await openCafes();
    const { names } = await list("near=0,0&sort=id");
    expect(names).toMatchObject({ status: 400, param: "sort", name: "mixed" });
  });
});
