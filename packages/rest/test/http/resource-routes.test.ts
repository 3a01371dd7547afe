import { empty, json } from "@fetchwork/http";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createAuthentication } from "../../src/accounts/create-authentication.ts";
import type { Authentication } from "../../src/http/authentication.ts";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineRoute, type Route } from "../../src/plan/route.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { masterKey, openApi } from "../api-client.ts";

const users = ["ann", "bob", "root"].map((id) => ({
  id,
  role: id === "root" ? "admin" : "user",
  passwordHash: "",
  sessionVersion: 1,
}));

function withUsers(): Authentication {
  return createAuthentication({
    masterKey,
    jwtSecret: "j".repeat(32),
    accounts: {
      byId: async (wanted) => users.find(({ id }) => id === wanted),
      byEmail: async () => undefined,
    },
  });
}

const diary = defineResource({
  name: "diary",
  path: "/diaries",
  schema: z.object({
    text: z.string(),
    mood: z.string().nullable().optional(),
    published: z.boolean().optional(),
  }),
  fields: { published: "nobody" },
  access: { list: "admin", show: "owner", create: "user", update: "owner", remove: "owner" },
  owner: "writer",
  unique: [["text", "mood"]],
});
const controller = createResourceController(diary);

async function openDiaries(routes: readonly Route[] = resourceRoutes(diary, controller)) {
  const authentication = withUsers();
  const { send } = await openApi({ routes, authentication });
  const as = async (id: string, method: string, path: string, body?: unknown) => {
    const user = users.find((one) => one.id === id);
    const token = user && (await authentication.tokens.issue(user));
    const response = await send(method, path, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    return {
      status: response.status,
      json: text === "" ? undefined : (JSON.parse(text) as unknown),
    };
  };
  return { as };
}

function idIn(json: unknown): string {
  return (json as { id: string }).id;
}

describe("the rule owner", () => {
  it.each(["GET", "PUT", "PATCH", "DELETE"])("keeps others from %s", async (method) => {
    const { as } = await openDiaries();
    const path = `/diaries/${idIn((await as("ann", "POST", "/diaries", { text: "a" })).json)}`;
    const body = method === "GET" ? undefined : { text: "b" };
    expect((await as("nobody", method, path, body)).status).toBe(401);
    expect((await as("bob", method, path, body)).status).toBe(403);
    expect((await as("ann", method, "/diaries/none", body)).status).toBe(404);
    expect((await as("root", "GET", path)).json).toMatchObject({ text: "a" });
    expect((await as("ann", method, path, body)).status).toBeLessThan(300);
  });

  it("holds for a handler that replaces ours", async () => {
    const update = async (): Promise<Response> => json("mine");
    const { as } = await openDiaries(resourceRoutes(diary, { ...controller, update }));
    const path = `/diaries/${idIn((await as("ann", "POST", "/diaries", { text: "a" })).json)}`;
    expect((await as("bob", "PUT", path, {})).status).toBe(403);
    expect((await as("ann", "PUT", path, {})).json).toBe("mine");
  });
});

describe("an update", () => {
  it("keeps what other handlers have stored next to the fields of the schema", async () => {
    const publish = defineRoute({
      method: "POST",
      path: "/diaries/:id/publication",
      operation: "publish",
      summary: "Publishes",
      tag: "diaries",
      access: "user",
      responses: { 204: { description: "Published" } },
      async handle({ params, store }) {
        await store.collection(diary.collection).update(params["id"] ?? "", { published: true });
        return empty();
      },
    });
    const peek = defineRoute({
      ...publish,
      method: "GET",
      operation: "peek",
      handle: async ({ params, store }) =>
        json(await store.collection(diary.collection).get(params["id"] ?? "")),
    });
    const { as } = await openDiaries([...resourceRoutes(diary, controller), publish, peek]);
    const path = `/diaries/${idIn((await as("ann", "POST", "/diaries", { text: "a" })).json)}`;
    await as("ann", "POST", `${path}/publication`);
    const updated = await as("ann", "PUT", path, { text: "b", writer: "bob", published: false });
    expect(updated.json).not.toHaveProperty("published");
    expect((await as("ann", "GET", `${path}/publication`)).json).toMatchObject({
      text: "b",
      writer: "ann",
      published: true,
    });
  });

  it("takes null where the schema knows it, and passes over it elsewhere", async () => {
    const { as } = await openDiaries();
    const created = await as("ann", "POST", "/diaries", { text: "a", mood: "good" });
    const path = `/diaries/${idIn(created.json)}`;
    const updated = await as("ann", "PUT", path, { text: null, mood: null });
    expect(updated.json).toMatchObject({ text: "a", mood: null });
  });

  it("answers 409 with the combination that is taken", async () => {
    const { as } = await openDiaries();
    await as("ann", "POST", "/diaries", { text: "a", mood: "good" });
    const other = await as("ann", "POST", "/diaries", { text: "b", mood: "good" });
    const refused = await as("ann", "PUT", `/diaries/${idIn(other.json)}`, { text: "a" });
    expect(refused.json).toMatchObject({
      status: 409,
      name: "unique",
      message: "the combination of text, mood is already registered",
    });
  });
});

it("resourceRoutes refuses a controller without restore for a resource that keeps removed documents", () => {
  const { restore: _, ...others } = controller;
  expect(resourceRoutes(diary, others)).toHaveLength(7);
  const kept = defineResource({
    name: "kept",
    path: "/kept",
    schema: z.object({ text: z.string() }),
    access: {},
    softDelete: true,
  });
  const { restore: _own, ...plain } = createResourceController(kept);
  expect(() => resourceRoutes(kept, plain)).toThrow(
    expect.objectContaining({
      code: "ERR_REST_DEFINITION",
      message: "the controller of kept has no restore, which its softDelete needs",
    }),
  );
});

describe("a resource with some handlers only", () => {
  it("has their routes, and no others in its OpenAPI document", async () => {
    const { create, list, show } = controller;
    const routes = resourceRoutes(diary, { create, list, show });
    const { api } = await openApi({ routes, authentication: withUsers() });
    const methods = Object.entries(api.openApi.paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method} ${path}`),
    );
    expect(methods.toSorted()).toEqual([
      "get /diaries",
      "get /diaries/{id}",
      "post /diaries",
      "query /diaries",
    ]);
    const { as } = await openDiaries(routes);
    const made = await as("ann", "POST", "/diaries", { text: "a" });
    expect(made.status).toBe(201);
    const path = `/diaries/${idIn(made.json)}`;
    expect((await as("ann", "GET", path)).status).toBe(200);
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      expect((await as("ann", method, path, { text: "b" })).status).toBe(405);
    }
  });

  it("is refused with bulk requests, which need all that change documents", () => {
    const note = defineResource({
      name: "note",
      path: "/notes",
      schema: z.object({ text: z.string() }),
      access: {},
      bulk: true,
    });
    const { create, list } = createResourceController(note);
    expect(() => resourceRoutes(note, { create, list })).toThrow(
      "bulk of note needs a controller with create, update, patch and remove",
    );
  });
});
