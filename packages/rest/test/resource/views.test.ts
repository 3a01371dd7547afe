import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { ResourceOptions } from "../../src/resource/resource-options.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { masterKey } from "../api-client.ts";
import { openAsUsers } from "../as-users.ts";

const member = defineResource({
  name: "member",
  path: "/members",
  schema: z.object({
    name: z.string(),
    city: z.string().default(""),
    email: z.string(),
    note: z.string().default(""),
    hash: z.string().optional(),
  }),
  owner: "id",
  access: { list: "public", show: "public", create: "master", update: "owner", remove: "admin" },
  fields: {
    city: { read: "user" },
    email: { read: "owner" },
    note: { read: "owner" },
    createdAt: { read: "owner" },
    updatedAt: "nobody",
    hash: "nobody",
  },
  search: ["name", "email"],
  sort: ["name", "email", "city"],
  filter: ["name", "email", "city", "createdAt"],
});

const times = { createdAt: { read: "admin" }, updatedAt: { read: "admin" } } as const;

const badge = defineResource({
  name: "badge",
  path: "/badges",
  schema: z.object({ of: z.string(), giver: z.string().optional(), title: z.string() }),
  access: { list: "public", show: "public", create: "user", update: "user", remove: "user" },
  fields: { giver: { read: "admin" }, ...times },
  relations: {
    of: { to: (): Resource => member },
    giver: { to: (): Resource => member, onDelete: "nullify" },
  },
});

const people = ["ann", "bob", "root"];
const callers = ["", ...people, "master"];

async function open() {
  const api = await openAsUsers([
    ...resourceRoutes(member, createResourceController(member)),
    ...resourceRoutes(badge, createResourceController(badge)),
  ]);
  const members = api.store.collection(member.collection);
  for (const id of people) {
    const fields = { name: `${id} n`, city: `${id}-city`, note: `${id}-note`, hash: `${id}-hash` };
    await members.insert({ ...fields, email: `${id}@example.com` }, { id });
  }
  await api.store
    .collection(badge.collection)
    .insert({ of: "ann", giver: "bob", title: "t" }, { id: "one" });
  return api;
}

const open_ = ["id", "name"];
const toUsers = [...open_, "city"];
const all = ["id", "name", "city", "email", "note", "createdAt"];

describe("views", () => {
  it.each([
    ["", "ann", open_],
    ["bob", "ann", toUsers],
    ["ann", "ann", all],
    ["root", "ann", all],
    ["root", "root", all],
  ])("show to %j of %s only what its kind sees", async (who, id, fields) => {
    const { as } = await open();
    expect(Object.keys((await as(who, "GET", `/members/${id}`)).json)).toEqual(fields);
    const { json: list } = await as(who, "GET", "/members");
    const listed = list.find((one: { id: string }) => one.id === id);
    expect(Object.keys(listed)).toEqual(fields);
    const { json: badges } = await as(who, "GET", "/badges?populate=of");
    if (id === "ann") expect(Object.keys(badges[0].of)).toEqual(fields);
    const { json: one } = await as(who, "GET", "/badges/one?populate=of");
    if (id === "ann") expect(Object.keys(one.of)).toEqual(fields);
  });

  it("show to the holder of the master key what admins see", async () => {
    const { as } = await open();
    const body = { name: "eve", email: "eve@example.com" };
    const created = await as("master", "POST", "/members", body);
    expect([created.status, Object.keys(created.json)]).toEqual([201, all]);
  });

  it("narrow the response to an update, a bulk request and a creation", async () => {
    const note = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string(), secretPlan: z.string().optional() }),
      access: { create: "public", update: "public", show: "public" },
      fields: { secretPlan: { read: "admin" }, ...times },
      bulk: true,
    });
    const { as } = await openAsUsers(resourceRoutes(note, createResourceController(note)));
    const body = { text: "t", secretPlan: "p" };
    const { json: created, headers } = await as("", "POST", "/notes", body);
    expect(Object.keys(created)).toEqual(["id", "text"]);
    const path = `/notes/${created.id}`;
    const ifMatch = { "if-match": headers.get("etag") };
    const updated = await as("bob", "PUT", path, { text: "u" });
    expect(updated.json).toEqual({ id: created.id, text: "u" });
    expect((await as("", "PATCH", path, { text: "v" }, ifMatch)).status).toBe(412);
    const item = { op: "patch", id: created.id, version: 2, body: { text: "w" } };
    const bulk = await as("bob", "POST", "/notes/bulk", { operations: [item] });
    expect(bulk.json).toEqual([
      { status: 200, id: created.id, version: 3, body: { id: created.id, text: "w" } },
    ]);
    expect(await as("root", "GET", path)).toMatchObject({ json: { secretPlan: "p" } });
  });

  it("let a bulk request name what it created, also where the identifier is not shown", async () => {
    const mail = defineResource({
      name: "mail",
      path: "/mails",
      schema: z.object({ text: z.string() }),
      access: { create: "public", update: "public", show: "public" },
      fields: { id: { read: "admin" }, ...times },
      bulk: true,
    });
    const { as, store } = await openAsUsers(resourceRoutes(mail, createResourceController(mail)));
    const operations = [{ op: "create", body: { text: "t" } }];
    const { json } = await as("", "POST", "/mails/bulk", { operations });
    const [stored] = await store.collection(mail.collection).find();
    expect(json).toEqual([{ status: 201, id: stored?.id, version: 1, body: { text: "t" } }]);
  });

  it.each([
    ["", "sort=email"],
    ["", "sort=-email"],
    ["", "sort=createdAt"],
    ["", "sort=city"],
    ["", "email=ann@example.com"],
    ["", "email[prefix]=a"],
    ["", "createdAt[gte]=2020-01-01"],
    ["", "q=ann"],
    ["", "fields=email"],
    ["", "fields=-email"],
    ["", "after=&sort=email"],
    ["bob", "sort=email"],
    ["bob", "email[exists]=true"],
    ["bob", "q=ann"],
  ])("let %j not ask a list for %s", async (who, query) => {
    const { as } = await open();
    const refused = await as(who, "GET", `/members?${query}`);
    expect(refused.status).toBe(400);
    expect((await as("root", "GET", `/members?${query}`)).status).toBe(200);
  });

  it("let users ask for fields that they see of themselves, and show them there only", async () => {
    const { as } = await open();
    const { json } = await as("ann", "GET", "/members?fields=email,city&sort=name");
    expect(json).toEqual([
      { id: "ann", city: "ann-city", email: "ann@example.com" },
      { id: "bob", city: "bob-city" },
      { id: "root", city: "root-city" },
    ]);
  });

  it("show only the fields of one document that are asked for", async () => {
    const { as } = await open();
    const shown = await as("ann", "GET", "/members/ann?fields=city,email");
    expect(shown.json).toEqual({ id: "ann", city: "ann-city", email: "ann@example.com" });
    expect(shown.headers.get("etag")).toBe(
      (await as("ann", "GET", "/members/ann")).headers.get("etag"),
    );
    // The same question about the document of another tells nothing.
    const { json } = await as("ann", "GET", "/members/bob?fields=city,email");
    expect(json).toEqual({ id: "bob", city: "bob-city" });
  });

  it.each([
    ["", "fields=email"],
    ["", "fields=-email"],
    ["ann", "fields=hash"],
    ["ann", "fields=nothing"],
    ["ann", "fields=city,-name"],
  ])("let %j not ask for %s of one document", async (who, query) => {
    const { as } = await open();
    const refused = await as(who, "GET", `/members/ann?${query}`);
    expect([refused.status, refused.json.param]).toEqual([400, "fields"]);
  });

  it("keep what a caller does not see out of cursors", async () => {
    const { as } = await open();
    const seen: string[] = [];
    let path = "/members?after=&limit=1";
    while (path !== "") {
      const { headers, json } = await as("", "GET", path);
      seen.push(json[0]?.id);
      const next = /<([^>]*)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
      const cursor = new URLSearchParams(next.split("?")[1]).get("after") ?? "";
      expect(Buffer.from(cursor, "base64url").toString()).not.toMatch(/\d{4}-\d\d-\d\dT/);
      path = next;
    }
    expect(seen).toEqual(["root", "bob", "ann"]);
  });

  it("hide a relation with its field, from both ends", async () => {
    const inverse = defineResource({
      name: "star",
      path: "/stars",
      schema: z.object({ name: z.string() }),
      access: { list: "public", show: "public" },
      relations: { planets: { to: (): Resource => planet, inverse: "star" } },
    });
    const planet = defineResource({
      name: "planet",
      path: "/planets",
      schema: z.object({ name: z.string(), star: z.string() }),
      access: { list: "public", show: "public" },
      fields: { star: { read: "admin" }, ...times },
      relations: { star: { to: (): Resource => inverse } },
    });
    const { as, store } = await openAsUsers([
      ...resourceRoutes(inverse, createResourceController(inverse)),
      ...resourceRoutes(planet, createResourceController(planet)),
    ]);
    await store.collection(inverse.collection).insert({ name: "Sun" }, { id: "sun" });
    await store.collection(planet.collection).insert({ name: "P", star: "sun" }, { id: "p" });
    for (const path of ["/planets/p?populate=star", "/planets?populate=star"]) {
      expect(JSON.stringify((await as("", "GET", path)).json)).not.toMatch(/sun/i);
      expect(JSON.stringify((await as("root", "GET", path)).json)).toMatch(/"name":"Sun"/);
    }
    expect((await as("", "GET", "/stars/sun?populate=planets")).json).not.toHaveProperty("planets");
    const seen = (await as("root", "GET", "/stars/sun?populate=planets")).json;
    expect(seen).toMatchObject({ planets: [{ name: "P" }] });
  });

  it("give each kind of caller its own entity tags, and what is personal to no shared cache", async () => {
    const { as } = await open();
    const tags = new Set<string>();
    for (const who of ["", "bob", "ann"]) {
      const one = await as(who, "GET", "/members/ann");
      const list = await as(who, "GET", "/members");
      expect(one.headers.get("vary")).toContain("Authorization");
      tags.add(one.headers.get("etag") ?? "").add(list.headers.get("etag") ?? "");
    }
    expect(tags.size).toBe(6);
    const mine = await as("ann", "GET", "/members/ann");
    const headers = { "if-match": mine.headers.get("etag") };
    expect((await as("ann", "PATCH", "/members/ann", { city: "x" }, headers)).status).toBe(200);
    const others = await as("bob", "GET", "/members/ann");
    const stale = { "if-none-match": others.headers.get("etag") };
    expect((await as("ann", "GET", "/members/ann", undefined, stale)).status).toBe(200);
  });

  it.each([
    ["master", "", "private, no-cache"],
    ["", `?access_token=${masterKey}`, "no-store"],
  ])("keep what the master key sees out of shared caches, as %j with %j", async (...given) => {
    const [who, query, expected] = given;
    const { as } = await open();
    for (const path of ["/members", "/members/ann"]) {
      const { headers, json } = await as(who, "GET", path + query);
      expect(JSON.stringify(json)).toContain("ann@example.com");
      expect(headers.get("cache-control")).toBe(expected);
    }
  });

  it("never show what nobody sees, and let no client set what nobody sets", async () => {
    const loose = defineResource({
      name: "loose",
      path: "/loose",
      schema: z.looseObject({ name: z.string(), hash: z.string().optional() }),
      fields: { hash: "nobody" },
      access: { create: "public", update: "public", show: "public" },
    });
    const { as, store } = await openAsUsers(resourceRoutes(loose, createResourceController(loose)));
    const { json } = await as("", "POST", "/loose", { name: "a", hash: "mine" });
    await as("", "PUT", `/loose/${json.id}`, { hash: "mine" });
    const [stored] = await store.collection(loose.collection).find();
    expect(stored).not.toHaveProperty("hash");
    const { as: asMember } = await open();
    for (const who of callers) {
      for (const path of ["/members", "/members/ann", "/badges?populate=of,giver"]) {
        expect(JSON.stringify((await asMember(who, "GET", path)).json)).not.toMatch(/hash/);
      }
    }
  });

  it("describe as required only what every caller of an operation sees", () => {
    expect(member.output["required"]).toEqual(open_);
    expect(Object.keys(member.output["properties"] as object)).toEqual(all);
    expect(member.changed["required"]).toEqual(all);
  });

  const schema = z.object({ name: z.string(), email: z.string() });
  it.each<[string, Partial<ResourceOptions<typeof schema>>, RegExp]>([
    ["a field that is not shown", { fields: { hash: { read: "admin" } } }, /no field hash/],
    [
      "a kind of caller that there is not",
      { fields: { email: { read: "self" } } as never },
      /must be one of public, user, owner, admin, nobody/,
    ],
  ])("are refused with %s", (_what, options, message) => {
    const define = () =>
      defineResource({ name: "one", path: "/ones", schema, access: {}, ...options });
    expect(define).toThrow(RestError);
    expect(define).toThrow(message);
  });
});
