import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { Problem } from "../../src/problem.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { memoryStore } from "../api-client.ts";
import { openAsUsers } from "../as-users.ts";
import { counting } from "./counting-store.ts";

const open = {
  list: "public",
  show: "public",
  create: "public",
  update: "public",
  remove: "public",
} as const;
const id = z.string();

describe("populate", () => {
  it("takes a hook that refuses for a document that is not shown, and one that fails for a failure", async () => {
    const failures = [new Problem(403), new Problem(503), new Error("broken")];
    const leaf = defineResource({
      name: "leaf",
      path: "/leaves",
      schema: z.object({ tree: id }),
      access: open,
      relations: { tree: { to: (): Resource => tree } },
    });
    const tree = defineResource({
      name: "tree",
      path: "/trees",
      schema: z.object({ name: z.string() }),
      access: open,
      hooks: {
        afterShow() {
          throw failures.shift() ?? new Error("called too often");
        },
      },
    });
    const { as } = await openAsUsers(
      [
        ...resourceRoutes(leaf, createResourceController(leaf)),
        ...resourceRoutes(tree, createResourceController(tree)),
      ],
      { reportError: () => undefined },
    );
    const one = (await as("", "POST", "/trees", { name: "a" })).json.id;
    await as("", "POST", "/leaves", { tree: one });
    const refused = await as("", "GET", "/leaves?populate=tree");
    expect(refused.json).toMatchObject([{ tree: one }]);
    expect((await as("", "GET", "/leaves?populate=tree")).status).toBe(503);
    expect((await as("", "GET", "/leaves?populate=tree")).status).toBe(500);
  });

  it("leaves out what a rule refuses by a Problem, and shows all else", async () => {
    const refuses = (): never => {
      throw new Problem(404);
    };
    const leaf = defineResource({
      name: "leaf",
      path: "/leaves",
      schema: z.object({ tree: id }),
      access: { ...open, list: () => refuses() },
      relations: { tree: { to: (): Resource => tree } },
    });
    const tree = defineResource({
      name: "tree",
      path: "/trees",
      schema: z.object({ name: z.string() }),
      access: { ...open, show: ({ document }) => document?.["name"] !== "hidden" || refuses() },
      relations: { leaves: { to: () => leaf, inverse: "tree" } },
    });
    const { as } = await openAsUsers([
      ...resourceRoutes(leaf, createResourceController(leaf)),
      ...resourceRoutes(tree, createResourceController(tree)),
    ]);
    const hidden = (await as("", "POST", "/trees", { name: "hidden" })).json.id;
    const created = (await as("", "POST", "/leaves", { tree: hidden })).json.id;
    const shown = await as("", "GET", `/leaves/${created}?populate=tree`);
    expect([shown.status, shown.json]).toMatchObject([200, { tree: hidden }]);
    const trees = await as("", "GET", "/trees?populate=leaves");
    expect([trees.status, trees.json]).toMatchObject([200, [{ name: "hidden" }]]);
    expect(trees.json[0]).not.toHaveProperty("leaves");
  });

  it("mixes no documents up where a hook returns other rows than there are documents", async () => {
    let rows = [{ name: "only" }];
    const reportError = vi.fn();
    const leaf = defineResource({
      name: "leaf",
      path: "/leaves",
      schema: z.object({ name: z.string(), next: id.optional() }),
      access: open,
      hooks: { afterList: () => rows },
      relations: { next: { to: (): Resource => leaf } },
    });
    const routes = resourceRoutes(leaf, createResourceController(leaf));
    const { as } = await openAsUsers(routes, { reportError });
    const first = (await as("", "POST", "/leaves", { name: "a" })).json.id;
    await as("", "POST", "/leaves", { name: "b", next: first });
    expect((await as("", "GET", "/leaves")).json).toEqual(rows);
    expect((await as("", "GET", "/leaves?populate=next")).status).toBe(500);
    expect(reportError).toHaveBeenCalledOnce();
    rows = [{ name: "new" }, { name: "old" }];
    const { json } = await as("", "GET", "/leaves?populate=next");
    expect(json).toMatchObject([{ name: "new", next: { name: "a" } }, { name: "old" }]);
  });

  it("shows at most 1,000 documents of an inverse relation, and each share wholly or not", async () => {
    const leaf: Resource = defineResource({
      name: "leaf",
      path: "/leaves",
      schema: z.object({ tree: id }),
      access: open,
      relations: { tree: { to: (): Resource => tree } },
    });
    const tree: Resource = defineResource({
      name: "tree",
      path: "/trees",
      schema: z.object({ place: z.int() }),
      access: open,
      sort: ["place"],
      relations: { leaves: { to: () => leaf, inverse: "tree", limit: 100 } },
    });
    const { store, calls } = counting(await memoryStore());
    const api = await openAsUsers(
      [leaf, tree].flatMap((one) => resourceRoutes(one, createResourceController(one))),
      { store },
    );
    await store.transaction(
      async (transaction) => {
        for (let place = 0; place < 30; place += 1) {
          const { id: one } = await transaction.collection(tree.collection).insert({ place });
          for (let index = 0; index < 90; index += 1) {
            await transaction.collection(leaf.collection).insert({ tree: one });
          }
        }
      },
      { timeout: 60_000 },
    );
    calls.length = 0;
    const { json } = await api.as("", "GET", "/trees?populate=leaves&sort=place");
    const shares = json.map(({ leaves }: { leaves?: object[] }) => leaves?.length);
    expect(shares.slice(0, 11)).toEqual(Array.from({ length: 11 }, () => 90));
    expect(new Set(shares.slice(11))).toEqual(new Set([undefined]));
    expect(calls.length).toBeLessThanOrEqual(14);
  });
});
