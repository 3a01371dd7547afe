import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openAsUsers } from "../as-users.ts";

const worker = defineResource({
  name: "worker",
  path: "/workers",
  schema: z.object({
    name: z.string(),
    team: z.string().default("none"),
    notes: z.string().optional(),
    salary: z.number().optional(),
    grade: z.number().optional(),
    boss: z.string().optional(),
    place: z.string().optional(),
  }),
  access: { list: "public", show: "public", create: "user", update: "user", remove: "user" },
  owner: "by",
  fields: {
    team: "user",
    notes: "owner",
    salary: "admin",
    grade: { write: "admin" },
    boss: { read: "admin" },
  },
  search: ["name", "notes"],
  sort: ["name", "team", "notes", "salary", "grade"],
  filter: ["name", "team", "notes", "salary", "grade", "boss"],
  groups: ["name", "team", "notes", "salary", "grade", "boss"],
  bulk: true,
  relations: {
    boss: { to: (): Resource => worker },
    desk: { to: (): Resource => desk, field: "place" },
  },
});

/** Another resource, which leads to workers from both ends. */
const desk = defineResource({
  name: "desk",
  path: "/desks",
  schema: z.object({ of: z.string() }),
  access: { list: "public", show: "public", create: "user" },
  relations: {
    of: { to: (): Resource => worker },
    staff: { to: (): Resource => worker, inverse: "desk" },
  },
});

/** Its size is what admins change. */
const room = defineResource({
  name: "room",
  path: "/rooms",
  schema: z.object({
    size: z.object({ width: z.int().nullable().optional(), height: z.int() }).optional(),
  }),
  access: { update: "user" },
  fields: { size: { update: "admin" } },
});

const callers = ["", "bob", "ann", "root"] as const;
type Caller = (typeof callers)[number];

/** Which fields each caller sees of a document of ann's. */
const seen: Readonly<Record<Caller, readonly string[]>> = {
  "": ["name", "grade"],
  bob: ["name", "team", "grade"],
  ann: ["name", "team", "notes", "grade"],
  root: ["name", "team", "notes", "salary", "grade", "boss"],
};
/** And by what each of them may ask a list, which has documents of others. */
const asked: Readonly<Record<Caller, readonly string[]>> = { ...seen, ann: seen.bob };

const fields = ["name", "team", "notes", "salary", "grade", "boss"];
const values = {
  name: "canary-name",
  team: "canary-team",
  notes: "canary-notes",
  salary: 424_242,
  grade: 434_343,
};

async function open() {
  const api = await openAsUsers([
    ...resourceRoutes(worker, createResourceController(worker)),
    ...resourceRoutes(desk, createResourceController(desk)),
  ]);
  const workers = api.store.collection(worker.collection);
  await api.store.collection(desk.collection).insert({ of: "one" }, { id: "desk" });
  await workers.insert({ name: "canary-boss", team: "x", by: "root" }, { id: "boss" });
  await workers.insert({ ...values, boss: "boss", place: "desk", by: "ann" }, { id: "one" });
  return { ...api, workers };
}

describe("the rules of fields", () => {
  it.each(callers)("show to %j by no way what others see", async (who) => {
    const { as } = await open();
    const shown = (json: object): string[] => fields.filter((field) => Object.hasOwn(json, field));
    const own = (json: { id: string }[]): object => json.find(({ id }) => id === "one") ?? {};
    expect(shown((await as(who, "GET", "/workers/one")).json)).toEqual(seen[who]);
    expect(shown(own((await as(who, "GET", "/workers")).json))).toEqual(seen[who]);
    expect(shown(own((await as(who, "GET", "/workers?populate=boss")).json))).toEqual(seen[who]);
    for (const path of ["/desks/desk?populate=of,staff", "/desks?populate=of,staff"]) {
      const { json } = await as(who, "GET", path);
      const { of, staff } = Array.isArray(json) ? json[0] : json;
      expect(shown(of)).toEqual(seen[who]);
      expect(shown(own(staff))).toEqual(seen[who]);
    }
    const widest = who === "bob" ? seen.ann : seen[who];
    for (const field of fields) {
      const one = await as(who, "GET", `/workers/one?fields=${field}`);
      expect(one.status).toBe(widest.includes(field) ? 200 : 400);
      if (one.status === 200)
        expect(shown(one.json)).toEqual(seen[who].includes(field) ? [field] : []);
      const list = await as(who, "GET", `/workers?fields=${field}`);
      expect(list.status).toBe(one.status);
    }
  });

  it.each(callers)(
    "let %j ask a list only about what it sees of the documents of others",
    async (who) => {
      const { as } = await open();
      for (const field of fields) {
        const value = field === "boss" ? "boss" : values[field as keyof typeof values];
        const where = encodeURIComponent(JSON.stringify({ [field]: value }));
        const not = encodeURIComponent(JSON.stringify({ not: { or: [{ [field]: value }] } }));
        const status = asked[who].includes(field) ? 200 : 400;
        const queries = [
          `${field}=${value}`,
          `${field}[exists]=true`,
          `where=${where}`,
          `where=${not}`,
        ];
        if (field !== "boss") queries.push(`sort=${field}`, `sort=-${field}&after=&limit=1`);
        const groups = [`by=${field}`, `min=${field}`, `max=${field}`];
        if (field === "salary" || field === "grade") groups.push(`sum=${field}`, `avg=${field}`);
        for (const query of [...groups, `by=name&${field}=${value}`, `where=${where}`]) {
          const answer = await as(who, "GET", `/workers/groups?${query}`);
          expect([query, answer.status]).toEqual([query, status]);
        }
        for (const query of queries) {
          expect([query, (await as(who, "GET", `/workers?${query}`)).status]).toEqual([
            query,
            status,
          ]);
        }
      }
      const found = await as(who, "GET", "/workers?q=canary");
      expect(found.status).toBe(who === "root" ? 200 : 400);
    },
  );

  it.each(callers)("show %j no more after a change, alone and in bulk", async (who) => {
    const { as } = await open();
    const shown = (json: object): string[] => fields.filter((field) => Object.hasOwn(json, field));
    for (const method of ["PUT", "PATCH"]) {
      const { json, status } = await as(who, method, "/workers/one", { name: "new" });
      expect(status).toBe(who === "" ? 401 : 200);
      if (who !== "") expect(shown(json)).toEqual(seen[who]);
    }
    if (who === "") return;
    const operations = [{ op: "patch", id: "one", body: { name: "newer" } }];
    const bulk = await as(who, "POST", "/workers/bulk", { operations });
    expect(shown(bulk.json[0].body)).toEqual(seen[who]);
  });

  const writes: readonly (readonly [string, string, unknown, number])[] = [
    ["bob", "team", "red", 200],
    ["bob", "notes", "n", 403],
    ["ann", "notes", "n", 200],
    ["bob", "salary", 424_242, 403],
    ["ann", "salary", 1, 403],
    ["root", "salary", 1, 200],
    ["ann", "grade", 1, 403],
    ["ann", "grade", null, 403],
    ["root", "grade", 1, 200],
    // A rule for seeing alone says nothing of setting.
    ["bob", "boss", "boss", 200],
    // What is sent back as it was seen is not a change.
    ["bob", "grade", 434_343, 200],
  ];
  it.each(writes)(
    "answer %s who sets %s to %j with status %i",
    async (who, field, value, status) => {
      const { as, workers } = await open();
      const before = await workers.get("one");
      const path = "/workers/one";
      const body = { name: "new", [field]: value };
      const operations = [{ op: "patch", id: "one", body }];
      const attempts = [
        await as(who, "PATCH", path, body),
        await as(who, "POST", "/workers/bulk", { operations }),
        ...(value === null ? [] : [await as(who, "PUT", path, body)]),
      ];
      for (const attempt of attempts) {
        expect(attempt.status).toBe(status);
        if (status === 403) expect(attempt.json).toMatchObject({ param: field, name: "access" });
      }
      if (status === 403) expect(await workers.get("one")).toEqual(before);
    },
  );

  it("keep a creator from what others set, and let it set what is the owner's", async () => {
    const { as, workers } = await open();
    for (const extra of [{ salary: 1 }, { grade: 1 }]) {
      const body = { name: "n", ...extra };
      const refused = await as("bob", "POST", "/workers", body);
      expect(refused).toMatchObject({ status: 403, json: { param: Object.keys(extra)[0] } });
      const operations = [{ op: "create", body }];
      expect((await as("bob", "POST", "/workers/bulk", { operations })).status).toBe(403);
      expect((await as("root", "POST", "/workers", body)).status).toBe(201);
    }
    const own = await as("bob", "POST", "/workers", { name: "n", notes: "mine", team: "t" });
    expect(own).toMatchObject({ status: 201, json: { notes: "mine" } });
    const hidden = await as("bob", "POST", "/workers", { name: "n", boss: "boss" });
    expect(hidden.json).not.toHaveProperty("boss");
    const bulk = [{ op: "create", body: { name: "n", boss: "boss" } }];
    const { json } = await as("bob", "POST", "/workers/bulk", { operations: bulk });
    expect(json[0].body).not.toHaveProperty("boss");
    expect(await workers.count()).toBe(7);
  });

  it("pass over what the schema adds, and ask nobody in particular for a token", async () => {
    const open_ = defineResource({
      name: "card",
      path: "/cards",
      schema: z.object({ text: z.string(), state: z.string().default("new") }),
      access: { create: "public", update: "public", show: "public" },
      fields: { state: { write: "admin" } },
    });
    const { as, openApi } = await openAsUsers(
      resourceRoutes(open_, createResourceController(open_)),
    );
    const created = await as("", "POST", "/cards", { text: "t" });
    expect(created).toMatchObject({ status: 201, json: { state: "new" } });
    expect((await as("", "POST", "/cards", { text: "t", state: "done" })).status).toBe(401);
    const path = `/cards/${created.json.id}`;
    expect((await as("", "PUT", path, { state: "done" })).status).toBe(401);
    expect((await as("ann", "PUT", path, { state: "done" })).status).toBe(403);
    const changed = await as("root", "PUT", path, { state: "done" });
    expect(changed.json.state).toBe("done");
    expect(openApi.paths["/cards"]?.["post"]).toMatchObject({
      responses: { 401: expect.anything(), 403: expect.anything() },
    });
  });

  it("tell nobody whether a value is the one that nobody sees", async () => {
    const safe = defineResource({
      name: "safe",
      path: "/safes",
      schema: z.object({ pin: z.string(), seal: z.string(), size: z.number().default(1) }),
      access: { create: "user", update: "user", show: "user" },
      owner: "holder",
      fields: {
        pin: { read: "nobody", write: "owner" },
        seal: { read: "nobody", update: "nobody" },
      },
    });
    const { as } = await openAsUsers(resourceRoutes(safe, createResourceController(safe)));
    const { json } = await as("ann", "POST", "/safes", { pin: "1", seal: "a" });
    const path = `/safes/${json.id}`;
    for (const pin of ["1", "2"]) expect((await as("bob", "PUT", path, { pin })).status).toBe(403);
    for (const seal of ["a", "b"]) {
      expect((await as("ann", "PUT", path, { seal })).status).toBe(400);
    }
    expect((await as("ann", "PUT", path, { pin: "2", size: 2 })).json).not.toHaveProperty("pin");
  });

  it("refuse a patch that would remove a part of what others change", async () => {
    const { as, store } = await openAsUsers(resourceRoutes(room));
    const size = { width: null, height: 2 };
    const { id } = await store.collection(room.collection).insert({ size });
    for (const sent of [size, { width: null }, { height: 3 }]) {
      const { json, status } = await as("bob", "PATCH", `/rooms/${id}`, { size: sent });
      expect([status, json.param]).toEqual([403, "size"]);
    }
    expect(await store.collection(room.collection).get(id)).toMatchObject({ size });
  });

  it("let a value be sent back in another order of its fields, or in part", async () => {
    const { as, store } = await openAsUsers(resourceRoutes(room));
    const { id } = await store
      .collection(room.collection)
      .insert({ size: { width: 1, height: 2 } });
    const whole = { size: { height: 2, width: 1 } };
    expect((await as("bob", "PUT", `/rooms/${id}`, whole)).status).toBe(200);
    expect((await as("bob", "PATCH", `/rooms/${id}`, { size: { height: 2 } })).status).toBe(200);
  });

  it("may say who changes a field apart from who sets it first", async () => {
    const ticket = defineResource({
      name: "ticket",
      path: "/tickets",
      schema: z.object({ seat: z.string(), price: z.number().default(1) }),
      access: { create: "user", update: "user" },
      fields: { seat: { update: "admin" }, price: { write: "admin", update: "nobody" } },
    });
    const { as } = await openAsUsers(resourceRoutes(ticket, createResourceController(ticket)));
    const { json } = await as("bob", "POST", "/tickets", { seat: "1" });
    const path = `/tickets/${json.id}`;
    expect((await as("bob", "PUT", path, { seat: "2" })).status).toBe(403);
    expect((await as("root", "PUT", path, { seat: "2" })).json).toMatchObject({ seat: "2" });
    expect((await as("bob", "POST", "/tickets", { seat: "1", price: 0 })).status).toBe(403);
    expect((await as("root", "PUT", path, { price: 2 })).status).toBe(400);
    expect((await as("root", "POST", "/tickets", { seat: "1", price: 0 })).status).toBe(201);
  });

  it("are in the schemas: what not everyone sees is not required", () => {
    expect(worker.output["required"]).toEqual(["id", "name", "createdAt", "updatedAt"]);
    expect(Object.keys(worker.output["properties"] as object)).toContain("salary");
  });

  it("are in the types: what not everyone sees may be missing", () => {
    type Shown = NonNullable<(typeof worker)["shownType"]>;
    expectTypeOf<Shown["name"]>().toEqualTypeOf<string>();
    expectTypeOf<Shown["grade"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<Shown["team"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<undefined extends Shown["salary"] ? true : false>().toEqualTypeOf<true>();
  });

  const schema = z.object({ name: z.string(), pay: z.number().optional() });
  it.each<[object, RegExp]>([
    [{ fields: { pay: "root" } }, /must be one of public/],
    [{ fields: { pay: { read: "admin", set: "admin" } } }, /has no set/],
    [{ fields: { none: "admin" } }, /no field none/],
    [{ fields: { pay: "owner" } }, /no owner field/],
    [{ fields: { id: { write: "admin" } } }, /no field id/],
    [{ fields: { pay: { write: "nobody", update: "admin" } } }, /nobody changes it/],
    [{ fields: z.object({}) }, /fields/],
  ])("are not defined by %j", (options, message) => {
    const base = { name: "one", path: "/ones", schema, access: {} };
    expect(() => defineResource({ ...base, ...options })).toThrow(message);
  });
});
