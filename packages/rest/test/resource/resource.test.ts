import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../../src/errors.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { listParameter } from "../../src/resource/list-parameter.ts";
import type { ResourceOptions } from "../../src/resource/resource-options.ts";
import { openResource } from "../resource-client.ts";

const schema = z.object({ title: z.string(), count: z.number().optional() });
const computed = { schema: z.string(), value: () => "" };
const parameter = listParameter({ schema: z.string(), where: () => undefined });
const good = { name: "note", path: "/notes", schema, access: {} } as const;

describe("defineResource", () => {
  it.each<[string, object]>([
    ["a name that is not an identifier", { name: "my note" }],
    ["a path without a slash", { path: "notes" }],
    ["a path with a parameter", { path: "/notes/:id" }],
    ["a search field that the schema lacks", { search: ["body"] }],
    ["a sort field that the schema lacks", { sort: ["__proto__"] }],
    ["a unique field that the schema lacks", { unique: [["title", "body"]] }],
    ["a rule of a field that the schema lacks", { fields: { passwordHash: "nobody" } }],
    ["a rule of an owner without an owner field", { access: { update: "owner" } }],
    ["an owner where anyone creates", { owner: "author", access: { create: "public" } }],
    ["an owner where the master key creates", { owner: "author", access: { create: "master" } }],
    ["an owner's rule for creating", { owner: "author", access: { create: "owner" } }],
    ["a list of owners without an owner field", { access: { list: "owner" } }],
    [
      "what is shown to owners, but listed to others",
      { owner: "author", access: { list: "user", show: "owner", create: "user" } },
    ],
    ["a filter field that the schema lacks", { filter: ["body"] }],
    ["an index on a field that the schema lacks", { indexes: [["title", "body"]] }],
    ["a place that the schema lacks", { geo: "where" }],
    ["a field that nobody sets and the schema lacks", { fields: { views: { write: "nobody" } } }],
    ["a field that nobody changes and the schema lacks", { fields: { a: { update: "nobody" } } }],
    [
      "a field that nobody sets, and users change",
      { fields: { count: { write: "nobody", update: "user" } } },
    ],
    ["a time that nobody sets", { fields: { createdAt: { write: "nobody" } } }],
    ["a field that nobody sets and clients must send", { fields: { title: { write: "nobody" } } }],
    ["a computed field that the schema has", { computed: { title: computed } }],
    ["a computed field under a reserved name", { computed: { version: computed } }],
    ["a default limit above the maximum", { list: { limit: { default: 50, max: 20 } } }],
    ["a limit of 0", { list: { limit: { default: 0 } } }],
    ["a limit that is not whole", { list: { limit: { max: 10.5 } } }],
    ["a limit above 1,000", { list: { limit: { max: 1_001 } } }],
    ["a count up to 0", { list: { count: 0 } }],
    ["a shape that there is not", { list: { shape: "object" } }],
    ["an order that clients may not ask for", { list: { sort: ["-title"] } }],
    [
      "a parameter called like that of relations",
      { relations: {}, list: { parameters: { populate: parameter } } },
    ],
    ["a parameter called as a standard one", { list: { parameters: { sort: parameter } } }],
    ["a parameter called as the token", { list: { parameters: { access_token: parameter } } }],
    [
      "a parameter called as a filter",
      { filter: ["title"], list: { parameters: { title: parameter } } },
    ],
    ["a parameter whose name is not a name", { list: { parameters: { "a[b]": parameter } } }],
    ["a path that is too long as a whole", { path: `/${"a".repeat(30)}/${"b".repeat(30)}` }],
    ["a path that no collection can be called after", { path: "/2fa" }],
    ["an owner that is a field of the schema too", { owner: "title", access: { create: "user" } }],
    ["an owner under a reserved name", { owner: "version", access: { create: "user" } }],
  ])("refuses %s", (_what, options) => {
    expect(() => defineResource({ ...good, ...options })).toThrow(RestError);
  });

  it.each<[object, RegExp]>([
    [{ count: 1_000 }, /defineResource has no option "count"/],
    [{ acces: {} }, /did you mean "access"/],
    [{ hook: {} }, /did you mean "hooks"/],
    [{ list: { count: "exact", limits: {} } }, /list of note has no option "limits", .*"limit"/],
    [{ list: { limit: { maximum: 3 } } }, /list.limit of note has no option "maximum"/],
    [{ list: { parameters: { one: { ...parameter, were: 1 } } } }, /did you mean "where"/],
    [{ access: { delete: "public" } }, /access of note has no option "delete"; it has list, show/],
    [
      { access: { list: "everyone" } },
      /access.list of note must be a function or .*, got "everyone"/,
    ],
    [{ access: { list: true } }, /access.list of note must be a function or .*, got true/],
    [{ name: undefined }, /name of a resource must be a text, got undefined/],
    [{ path: 3 }, /path of a resource must be a text, got 3/],
    [{ access: undefined }, /note has no access rules, expected access: \{ list/],
    [{ relations: { a: { to: () => undefined, ondelete: "cascade" } } }, /did you mean "onDelete"/],
    [{ populate: { path: [] } }, /did you mean "paths"/],
    [{ hooks: { beforeSave: () => undefined } }, /hooks of note has no option "beforeSave"/],
    [{ bulk: { max: 3 } }, /bulk of note has no option "max"/],
    [{ computed: { a: { schema, get: () => 1 } } }, /computed field a of note has no option "get"/],
    [{ feilds: {} }, /did you mean "fields"/],
  ])("refuses the unknown names in %o", (wrong, message) => {
    const options = { ...good, ...wrong } as ResourceOptions<typeof schema>;
    expect(() => defineResource(options)).toThrow(RestError);
    expect(() => defineResource(options)).toThrow(message);
  });

  it("takes an access rule that is undefined for one that is left out", () => {
    expect(defineResource({ ...good, access: { list: undefined } as object }).access.list).toBe(
      "admin",
    );
  });

  it.each(["id", "version", "createdAt", "updatedAt", "access_token"])(
    "refuses a field called %s",
    (name) => {
      const reserved = z.object({ [name]: z.string() });
      expect(() => defineResource({ ...good, schema: reserved })).toThrow(/reserved/);
    },
  );

  it("refuses a schema that is not of an object", () => {
    expect(() => defineResource({ ...good, schema: z.array(z.string()) })).toThrow(RestError);
  });

  it("refuses a schema that cannot describe itself", () => {
    const define = () => defineResource({ ...good, schema: z.object({ at: z.date() }) });
    expect(define).toThrow(RestError);
    expect(define).toThrow(
      `the schema of ${good.name} does not describe itself as JSON Schema: Date cannot be represented`,
    );
  });

  it("indexes the fields to sort and to filter by that no other index begins with", () => {
    const { collection } = defineResource({
      ...good,
      schema: z.object({
        title: z.string(),
        count: z.number(),
        state: z.string(),
        code: z.string(),
        tags: z.array(z.string()),
        address: z.object({ city: z.string() }),
      }),
      owner: "author",
      access: { create: "user" },
      sort: ["title"],
      unique: ["code"],
      indexes: [["state", "createdAt"]],
      filter: [
        "title",
        "count",
        "state",
        "code",
        "tags",
        "address.city",
        "author",
        "id",
        "createdAt",
      ],
    });
    expect(collection.indexes).toEqual([
      ["title"],
      ["updatedAt"],
      ["state", "createdAt"],
      ["count"],
      ["address.city"],
      ["author"],
    ]);
  });

  it.each([
    [{}, true],
    [{ list: { count: "exact" }, softDelete: true }, true],
    [{ softDelete: true }, undefined],
    [{ list: { count: 100 } }, undefined],
    [{ list: { count: "none" } }, undefined],
  ] as const)("has the store keep the total only where a list shows it: %j", (options, kept) => {
    expect(defineResource({ ...good, ...options }).collection.keepTotal).toBe(kept);
  });

  it("keeps the documents of each path apart, also where the last words are the same", () => {
    const names = ["/notes", "/admin/notes", "/admin-notes", "/a/b/notes"].map(
      (path) => defineResource({ ...good, path }).collection.name,
    );
    expect(names).toEqual(["notes", "admin_notes", "admin-notes", "a_b_notes"]);
  });

  it("serves two resources whose paths end in the same word side by side", async () => {
    const access = { list: "public", create: "public" } as const;
    const note = defineResource({ ...good, access });
    const other = defineResource({ ...good, name: "adminNote", path: "/admin/notes", access });
    const extra = resourceRoutes(other, createResourceController(other));
    const { as } = await openResource(note, { extra });
    await as("", "POST", "/admin/notes", { title: "a" });
    expect((await as("", "GET", "/notes")).json).toEqual([]);
    expect((await as("", "GET", "/admin/notes")).json).toMatchObject([{ title: "a" }]);
  });

  it("opens what is not mentioned to admins only", () => {
    expect(new Set(Object.values(defineResource(good).access))).toEqual(new Set(["admin"]));
  });

  it("describes what clients see", () => {
    expect(defineResource(good).output).toMatchObject({
      required: ["id", "title", "createdAt", "updatedAt"],
      properties: { count: { type: "number" }, createdAt: { format: "date-time" } },
    });
  });
});
