import { expect, it } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { openAsUsers } from "../as-users.ts";

const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({ name: z.string() }),
  access: { list: "public", show: "public", create: "admin" },
  relations: { orders: { to: (): Resource => order, inverse: "product" } },
});

const order = defineResource({
  name: "order",
  path: "/orders",
  schema: z.object({ product: z.string(), text: z.string(), note: z.string().default("") }),
  access: { list: "owner", show: "owner", create: "user", remove: "owner" },
  owner: "buyer",
  search: ["text"],
  filter: ["buyer", "text", "note"],
  fields: { note: "owner" },
  groups: ["text"],
  relations: { product: { to: (): Resource => product } },
  softDelete: true,
  list: { count: "exact" },
  hooks: { beforeList: () => ({ text: { ne: "hidden" } }) },
});

async function open() {
  const routes = [product, order].flatMap((one: Resource) =>
    resourceRoutes(one, createResourceController(one)),
  );
  const api = await openAsUsers(routes);
  const { id } = await api.store.collection(product.collection).insert({ name: "Tea" });
  const create = async (who: string, text: string): Promise<string> =>
    (await api.as(who, "POST", "/orders", { product: id, text, note: who })).json.id;
  const anns = await create("ann", "tea");
  await create("ann", "hidden");
  const bobs = await create("bob", "tea");
  return { ...api, anns, bobs, product: id };
}

const idsOf = (rows: readonly { readonly id: string }[]): readonly string[] =>
  rows.map(({ id }) => id).toSorted();

it.each([
  "/orders",
  "/orders?q=tea",
  "/orders?populate=product",
  "/orders?after=",
  "/orders?trash=only",
])(
  "GET %s under the rule owner refuses nobody, and the master key, which is not a user",
  async (path) => {
    const { as } = await open();
    for (const who of ["", "master"]) expect((await as(who, "GET", path)).status).toBe(401);
  },
);

it("a user lists, finds and counts only what it owns, an admin all, and hooks narrow both", async () => {
  const { as, anns, bobs } = await open();
  for (const query of [
    "",
    "?q=tea",
    "?text=tea",
    "?after=",
    "?limit=1",
    "?buyer=ann&populate=product",
  ]) {
    const { json, headers } = await as("ann", "GET", `/orders${query}`);
    expect(idsOf(json)).toEqual([anns]);
    expect(headers.get("x-total-count")).toBe("1");
  }
  expect((await as("ann", "GET", "/orders?buyer=bob")).json).toEqual([]);
  expect((await as("ann", "GET", "/orders?note=bob")).json).toEqual([]);
  expect(idsOf((await as("ann", "GET", "/orders?note=ann")).json)).toEqual([anns]);
  expect(idsOf((await as("root", "GET", "/orders")).json)).toEqual(
    idsOf([{ id: anns }, { id: bobs }]),
  );
});

it("groups have only what the user owns", async () => {
  const { as } = await open();
  expect((await as("", "GET", "/orders/groups?by=text")).status).toBe(401);
  const count = async (who: string) => (await as(who, "GET", "/orders/groups?by=text")).json;
  expect(await count("ann")).toEqual([{ by: { text: "tea" }, count: 1 }]);
  expect(await count("root")).toEqual([{ by: { text: "tea" }, count: 2 }]);
});

it("a relation to them shows a user what it owns, and nobody none", async () => {
  const { as, anns, bobs } = await open();
  const orders = async (who: string) =>
    (await as(who, "GET", "/products?populate=orders")).json[0].orders;
  expect(await orders("")).toBeUndefined();
  expect(idsOf(await orders("ann"))).toEqual([anns]);
  expect(idsOf(await orders("root"))).toEqual(idsOf([{ id: anns }, { id: bobs }]));
});

it("only admins list what was removed", async () => {
  const { as, anns } = await open();
  await as("ann", "DELETE", `/orders/${anns}`);
  expect((await as("ann", "GET", "/orders")).json).toEqual([]);
  expect((await as("ann", "GET", "/orders?trash=only")).status).toBe(403);
  expect(idsOf((await as("root", "GET", "/orders?trash=only")).json)).toEqual([anns]);
});

it("users who own themselves list themselves", async () => {
  const member = defineResource({
    name: "member",
    path: "/members",
    schema: z.object({ name: z.string() }),
    access: { list: "owner", show: "owner" },
    owner: "id",
  });
  const { as, store } = await openAsUsers(resourceRoutes(member));
  const members = store.collection(member.collection);
  for (const id of ["ann", "bob"]) await members.insert({ name: id }, { id });
  expect(idsOf((await as("ann", "GET", "/members")).json)).toEqual(["ann"]);
});

it("the reference says whose documents a list has", async () => {
  const { openApi } = await open();
  expect(openApi.paths["/orders"]).toMatchObject({
    get: { description: "Those of the caller; all of them for admins" },
  });
});
