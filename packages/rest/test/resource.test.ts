import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RestError } from "../src/errors.ts";
import { defineResource } from "../src/resource.ts";
import type { ResourceOptions } from "../src/resource-options.ts";

const schema = z.object({ title: z.string(), count: z.number().optional() });
const good = { name: "note", path: "/notes", schema, access: {} } as const;

describe("defineResource", () => {
  it.each<[string, Partial<ResourceOptions<typeof schema>>]>([
    ["a name that is no identifier", { name: "my note" }],
    ["a path without a slash", { path: "notes" }],
    ["a path with a parameter", { path: "/notes/:id" }],
    ["a search field that the schema lacks", { search: ["body"] }],
    ["a sort field that the schema lacks", { sort: ["__proto__"] }],
    ["a unique field that the schema lacks", { unique: [["title", "body"]] }],
    ["a shown field that the schema lacks", { view: ["id", "passwordHash"] }],
    ["a rule of an owner without an owner field", { access: { update: "owner" } }],
    ["an owner where anyone creates", { owner: "author", access: { create: "public" } }],
    ["an owner where the master key creates", { owner: "author", access: { create: "master" } }],
    ["an owner's rule for a list", { owner: "author", access: { list: "owner", create: "user" } }],
    [
      "what is shown to owners, but listed to others",
      { owner: "author", access: { list: "user", show: "owner", create: "user" } },
    ],
    ["a path that no collection can be called after", { path: "/2fa" }],
    ["an owner that is a field of the schema too", { owner: "title", access: { create: "user" } }],
    ["an owner under a reserved name", { owner: "id", access: { create: "user" } }],
  ])("refuses %s", (_what, options) => {
    expect(() => defineResource({ ...good, ...options })).toThrow(RestError);
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
    expect(() => defineResource({ ...good, schema: z.object({ at: z.date() }) })).toThrow(
      RestError,
    );
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
