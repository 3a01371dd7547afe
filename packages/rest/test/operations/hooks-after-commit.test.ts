import { defineCollection } from "@fetchwork/documents";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import type { Call } from "../../src/resource/call.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openAsUsers } from "../as-users.ts";

const entries = defineCollection<{ readonly what: string }>("entries");

/** Writes by the store, and in a transaction of it. */
async function note(call: Call, what: string): Promise<void> {
  await call.store.collection(entries).insert({ what });
  await call.store.transaction((transaction) =>
    transaction.collection(entries).insert({ what: `${what} too` }),
  );
}

const schema = z.object({ title: z.string() });
const access = {
  list: "public",
  show: "public",
  create: "user",
  update: "user",
  remove: "user",
} as const;
const task = defineResource({
  name: "task",
  path: "/tasks",
  schema,
  access,
  bulk: { limit: 5 },
  hooks: {
    beforeRemove: () => undefined,
    afterCreate: ({ call }) => note(call, "created"),
    afterUpdate: ({ call }) => note(call, "updated"),
    afterRemove: ({ call }) => note(call, "removed"),
  },
});
const step = defineResource({
  name: "step",
  path: "/steps",
  schema: schema.extend({ task: z.string() }),
  access,
  relations: { task: { to: (): Resource => task, onDelete: "cascade" } },
  hooks: { afterRemove: ({ call }) => note(call, "step removed") },
});

async function open() {
  const resources = [task, step];
  const api = await openAsUsers(
    resources.flatMap((each) => [...resourceRoutes(each, createResourceController(each))]),
  );
  const written = async (): Promise<readonly string[]> =>
    (await api.store.collection(entries).find({ sort: ["createdAt"] })).map(({ what }) => what);
  return { ...api, written };
}

describe("a hook after a change writes by the store of its call", () => {
  it("when the request has an Idempotency-Key", async () => {
    const { as, written } = await open();
    const keyed = { "idempotency-key": "one" };
    expect((await as("ann", "POST", "/tasks", { title: "a" }, keyed)).status).toBe(201);
    expect((await as("ann", "POST", "/tasks", { title: "a" }, keyed)).status).toBe(201);
    expect(await written()).toEqual(["created", "created too"]);
  });

  it("when the changes of a bulk request are one", async () => {
    const { as, written } = await open();
    const { id } = (await as("ann", "POST", "/tasks", { title: "a" })).json;
    const operations = [
      { op: "create", body: { title: "b" } },
      { op: "patch", id, body: { title: "c" } },
      { op: "remove", id },
    ];
    const answer = await as("ann", "POST", "/tasks/bulk", { operations, atomic: true });
    expect(answer.status).toBe(200);
    const whats = ["created", "created", "updated", "removed"];
    expect(await written()).toEqual(whats.flatMap((what) => [what, `${what} too`]));
  });

  it("when documents go with another one", async () => {
    const { as, written } = await open();
    const { id } = (await as("ann", "POST", "/tasks", { title: "a" })).json;
    await as("ann", "POST", "/steps", { title: "b", task: id });
    expect((await as("ann", "DELETE", `/tasks/${id}`)).status).toBe(204);
    expect(await written()).toEqual([
      "created",
      "created too",
      "step removed",
      "step removed too",
      "removed",
      "removed too",
    ]);
  });
});
