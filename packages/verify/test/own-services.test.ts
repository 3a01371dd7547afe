import { defineResource, defineRoute, Problem, resourceRoutes } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import { accountSettings, defineConfig, defineService, serverSettings } from "@fetchwork/service";
import { expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { app as blog } from "../../../examples/blog/src/app.ts";
import { app as notes } from "../../service/test/notes-service.ts";
import { verifyService } from "../src/index.ts";

it("verifyService() finds nothing in the blog", async () => {
  const { findings, reads, requests, skipped } = await verifyService(blog, { scale: 5000 });
  expect(findings).toEqual([]);
  expect(skipped).toEqual([]);
  expect(requests).toBeGreaterThan(1000);
  expect(reads["user"]?.["user"]).toEqual(["name", "picture"]);
  expect(reads["user"]?.["owner"]).toContain("email");
  expect(reads["article"]?.["anonymous"]).toEqual(expect.arrayContaining(["title", "content"]));
});

it("verifyService() finds nothing in a service with a route, a job and a separate receiver", async () => {
  const { findings } = await verifyService(notes);
  expect(findings).toEqual([]);
});

it("verifyService() takes what a route repeats of its query for no hidden value", async () => {
  const note = defineResource({
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string() }),
    access: { list: "owner", show: "owner", create: "user" },
    owner: "author",
  });
  const repeat = defineRoute({
    method: "GET",
    path: "/days",
    operation: "showDay",
    summary: "Show a day",
    tag: "days",
    access: "public",
    query: [{ name: "date", description: "Day", schema: { type: "string" } }],
    responses: { 200: { description: "The day" } },
    handle: ({ query }) => Response.json({ date: query.get("date"), free: true }),
  });
  const app = defineService({
    name: "days",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(note)],
    routes: [repeat],
  });
  const { findings } = await verifyService(app);
  expect(findings).toEqual([]);
});

it("verifyService() tries a resource that only admins create, and that refers to another one", async () => {
  const author = defineResource({
    name: "author",
    path: "/authors",
    schema: z.object({ name: z.string() }),
    access: { show: "public", create: "admin" },
  });
  const book = defineResource({
    name: "book",
    path: "/books",
    schema: z.object({ title: z.string(), author: z.string() }),
    access: { show: "public", create: "admin" },
    relations: { author: { to: () => author } },
    hooks: {
      beforeCreate: ({ fields }) => ({ ...fields, shelf: "A4" }),
      afterShow: ({ document, shown }) => ({ ...shown, shelf: Reflect.get(document, "shelf") }),
    },
  });
  const app = defineService({
    name: "library",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(author), resourceRoutes(book)],
  });
  const { findings, skipped } = await verifyService(app);
  expect(skipped).toEqual([]);
  expect(findings).toContainEqual(expect.objectContaining({ code: "field-read", field: "shelf" }));
});

it.each([
  ["finds a list that shows what the function of show refuses", undefined],
  ["finds nothing in a list that leaves it out", { organization: { in: ["none"] } }],
])("verifyService() %s", async (_, listed) => {
  const ticket = defineResource({
    name: "ticket",
    path: "/tickets",
    schema: z.object({ organization: z.string(), title: z.string() }),
    access: { list: "user", show: ({ document }) => document === undefined, create: "user" },
    hooks: { beforeList: () => listed },
  });
  const app = defineService({
    name: "tickets",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(ticket)],
  });
  const { findings } = await verifyService(app);
  const found = findings.map(({ code, resource, way }) => `${code} ${resource} ${way}`);
  expect(new Set(found)).toEqual(new Set(listed ? [] : ["hook-gap ticket list"]));
});

it.each([
  ["finds a list that has what the hook after showing refuses", undefined],
  ["takes no single document for a gap that a filter hides from the master key", { mood: "none" }],
])("verifyService() %s", async (_, listed) => {
  const diary = defineResource({
    name: "diary",
    path: "/diaries",
    schema: z.object({ text: z.string(), mood: z.string() }),
    owner: "author",
    access: { list: "public", show: "public", create: "user" },
    hooks: {
      ...(listed && { beforeList: ({ call }) => (call.user ? undefined : listed) }),
      afterShow({ call }) {
        if (!call.user && !call.isMaster) throw new Problem(404);
      },
    },
  });
  const app = defineService({
    name: "diaries",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(diary)],
  });
  const { findings } = await verifyService(app);
  const found = findings.map(({ caller, code, way }) => `${code} ${caller} ${way}`);
  expect(new Set(found)).toEqual(new Set(listed ? [] : ["hook-gap anonymous list"]));
});

it.each([[["team", "member"]], [["owner", "team"]], [["member"]], [["owner"]]])(
  "verifyService() tries a resource of which only %j tell documents apart",
  async (key) => {
    const user = defineUser();
    const team = defineResource({
      name: "team",
      path: "/teams",
      schema: z.object({ name: z.string() }),
      access: { create: "user" },
      owner: "owner",
    });
    const membership = defineResource({
      name: "membership",
      path: "/memberships",
      schema: z.object({ team: z.string(), member: z.string() }),
      access: { list: "user", create: "user" },
      owner: "owner",
      unique: [key as ["team"]],
      relations: { team: { to: () => team }, member: { to: () => user } },
    });
    const app = defineService({
      name: "teams",
      config: defineConfig({ ...serverSettings, ...accountSettings }),
      accounts: accounts({ user }),
      resources: [resourceRoutes(team), resourceRoutes(membership)],
    });
    const { findings, skipped } = await verifyService(app);
    expect({ findings, skipped }).toEqual({ findings: [], skipped: [] });
  },
);

it("verifyService() tells documents apart by a short text", async () => {
  const coupon = defineResource({
    name: "coupon",
    path: "/coupons",
    schema: z.object({ code: z.string().min(1).max(5) }),
    access: { list: "public", show: "public", create: "user", update: "owner", remove: "owner" },
    owner: "owner",
    unique: ["code"],
  });
  const app = defineService({
    name: "coupons",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(coupon)],
  });
  const { findings, skipped } = await verifyService(app);
  expect({ findings, skipped }).toEqual({ findings: [], skipped: [] });
});

it("verifyService() tries the search of a list that a hook reads, too", async () => {
  const options = {
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string(), pin: z.string() }),
    owner: "author",
    search: ["text"],
    fields: { pin: "owner" },
    access: { list: "public", show: "public", create: "user" },
  } as const;
  const { collection } = defineResource(options);
  const note = defineResource({
    ...options,
    hooks: {
      async beforeList({ call: { query, store } }) {
        const pin = query.get("q") ?? "";
        const count = await store.collection(collection).count({ where: { pin } });
        if (count > 0) throw new Problem(404);
      },
    },
  });
  const app = defineService({
    name: "notes",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(note)],
  });
  const { findings } = await verifyService(app);
  expect(findings).toContainEqual(
    expect.objectContaining({ code: "field-inferred", field: "pin", way: "search" }),
  );
});

it("verifyService() takes an example for a field whose pattern a made text does not fit", async () => {
  const opening = defineResource({
    name: "opening",
    path: "/openings",
    schema: z.object({
      begin: z
        .string()
        .regex(/^[01]\d:[0-5]\d$/)
        .meta({ examples: ["08:30", "09:30"] }),
    }),
    access: { list: "public", show: "public", create: "user" },
    owner: "manager",
  });
  const app = defineService({
    name: "openings",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(opening)],
  });
  const { findings, skipped } = await verifyService(app);
  expect({ findings, skipped }).toEqual({ findings: [], skipped: [] });
});

it("verifyService() with scale reports a list that fails once", async () => {
  const note = defineResource({
    name: "note",
    path: "/notes",
    schema: z.object({ text: z.string() }),
    access: { list: "public" },
    hooks: {
      beforeList() {
        throw new Error("the list fails");
      },
    },
  });
  const app = defineService({
    name: "failing",
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(note)],
  });
  vi.spyOn(console, "error").mockReturnValue(undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  const { findings } = await verifyService(app, { scale: 1000 });
  expect(findings.filter(({ caller, way }) => caller + way === "anonymouslistNotes")).toEqual([
    expect.objectContaining({ code: "server-error", status: 500 }),
  ]);
});
