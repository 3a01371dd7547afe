import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { Resource } from "../../src/resource/resource.ts";
import { memoryStore, openApi } from "../api-client.ts";
import { openAsUsers } from "../as-users.ts";
import { withUsers } from "../resource-client.ts";

const shop = defineResource({
  name: "shop",
  path: "/shops",
  schema: z.object({ name: z.string() }),
  access: { show: "public", create: "user", update: "owner" },
  owner: "owner",
});

const asked: unknown[] = [];

const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.looseObject({ shop: z.string(), title: z.string(), stock: z.number().default(0) }),
  owner: "author",
  bulk: true,
  access: {
    async create({ caller, fields, store }) {
      expectTypeOf(fields.shop).toEqualTypeOf<string>();
      asked.push(fields);
      if (!caller || caller.role === "admin") return caller !== undefined;
      return (await store.collection(shop.collection).get(fields.shop))?.owner === caller.id;
    },
    async update({ caller, document, fields, store }) {
      expectTypeOf(fields).toEqualTypeOf<undefined>();
      if (!caller || !document) return false;
      expectTypeOf(document.shop).toEqualTypeOf<string>();
      return (await store.collection(shop.collection).get(document.shop))?.owner === caller.id;
    },
    show: ({ caller, document }) => caller?.id === "ann" && document?.title === "tea",
  },
});

const routes = ([shop, product] as readonly Resource[]).flatMap((one) =>
  resourceRoutes(one, createResourceController(one)),
);

async function openShops() {
  asked.length = 0;
  const api = await openAsUsers(routes);
  const made = await api.as("ann", "POST", "/shops", { name: "Ann's" });
  const id: string = made.json.id;
  const products = api.store.collection(product.collection);
  const create = (who: string, body: object, headers: object = {}) =>
    api.as(who, "POST", "/products", { shop: id, title: "tea", ...body }, headers);
  return { ...api, create, products, shop: id };
}

describe("a rule that asks a relation", () => {
  it.each([
    ["", 401],
    ["bob", 403],
    ["ann", 201],
    ["root", 201],
  ])("answers a creation by %j with %i", async (who, status) => {
    const { create, products } = await openShops();
    expect((await create(who, {})).status).toBe(status);
    expect(await products.count({})).toBe(status === 201 ? 1 : 0);
  });

  it("answers with 403 where the relation leads to nothing", async () => {
    const { create } = await openShops();
    expect((await create("ann", { shop: "none" })).status).toBe(403);
  });

  it("is not asked about fields that are not valid", async () => {
    const { create } = await openShops();
    expect((await create("bob", { title: 1 })).status).toBe(400);
    expect(asked).toEqual([]);
  });

  it("gets the validated fields that are stored, with the owner", async () => {
    const { create, shop: id } = await openShops();
    expect((await create("bob", { author: "ann", id: "x" })).status).toBe(403);
    expect(asked).toMatchObject([{ shop: id, title: "tea", stock: 0, author: "bob" }]);
    expect(asked[0]).not.toHaveProperty("id");
  });

  it("is not asked about fields of a prototype", async () => {
    const { as, shop: id } = await openShops();
    for (const own of [`"shop":"none",`, ""]) {
      const hostile: unknown = JSON.parse(`{${own}"title":"tea","__proto__":{"shop":"${id}"}}`);
      expect((await as("ann", "POST", "/products", hostile)).status).toBe(400);
    }
    expect(asked).toEqual([]);
  });

  it("gets the converted fields of a form", async () => {
    const authentication = withUsers();
    const store = await memoryStore();
    const { send } = await openApi({ routes, authentication, store });
    const { id } = await store.collection(shop.collection).insert({ name: "Ann's", owner: "ann" });
    asked.length = 0;
    const account = { role: "user", passwordHash: "", sessionVersion: 1 };
    const post = async (who: string) => {
      const token = await authentication.tokens.issue({ ...account, id: who });
      const headers = { authorization: `Bearer ${token}` };
      const body = new URLSearchParams({ shop: id, title: "tea", stock: "3" });
      return (await send("POST", "/products", { headers, body })).status;
    };
    expect([await post("bob"), await post("ann")]).toEqual([403, 201]);
    expect(asked).toMatchObject([{ stock: 3 }, { stock: 3 }]);
  });

  it.each([
    ["", 401],
    ["bob", 403],
    ["ann", 200],
    ["root", 200],
  ])("answers bulk creations by %j with %i, all or none", async (who, status) => {
    const { as, products, shop: id } = await openShops();
    const operations = ["tea", "milk"].map((title) => ({
      op: "create",
      body: { shop: id, title },
    }));
    expect((await as(who, "POST", "/products/bulk", { operations })).status).toBe(status);
    expect(await products.count({})).toBe(status === 200 ? 2 : 0);
  });

  it("refuses a bulk request for one creation in another shop", async () => {
    const { as, products, shop: id } = await openShops();
    const { json: other } = await as("bob", "POST", "/shops", { name: "Bob's" });
    const operations = [id, other.id].map((one) => ({
      op: "create",
      body: { shop: one, title: "tea" },
    }));
    expect((await as("ann", "POST", "/products/bulk", { operations })).status).toBe(403);
    expect(await products.count({})).toBe(0);
  });

  it("is asked in the transaction of a POST with Idempotency-Key, and not for its repetition", async () => {
    const { create, products } = await openShops();
    const headers = { "idempotency-key": "k".repeat(32) };
    expect((await create("bob", {}, headers)).status).toBe(403);
    const first = await create("ann", {}, headers);
    const again = await create("ann", {}, headers);
    expect([first.status, again.status, again.json.id]).toEqual([201, 201, first.json.id]);
    expect(asked).toHaveLength(2);
    expect(await products.count({})).toBe(1);
  });

  it("decides about changes and shows by the document", async () => {
    const { as, create } = await openShops();
    const path = `/products/${(await create("ann", {})).json.id}`;
    const change = async (who: string) => (await as(who, "PATCH", path, { title: "milk" })).status;
    expect((await as("bob", "GET", path)).status).toBe(403);
    expect((await as("ann", "GET", path)).status).toBe(200);
    expect([await change(""), await change("bob"), await change("ann")]).toEqual([401, 403, 200]);
    expect((await as("ann", "GET", path)).status).toBe(403);
  });

  it("of a creation is asked in the transaction of the creation", async () => {
    const counted = defineResource({
      name: "product",
      path: "/products",
      schema: z.object({ shop: z.string() }),
      access: {
        async create({ caller, fields, store }) {
          await store.collection(shop.collection).update(fields.shop, { name: "asked" });
          return caller?.id === "ann";
        },
      },
    });
    const { as, store } = await openAsUsers(
      resourceRoutes(counted, createResourceController(counted)),
    );
    const shops = store.collection(shop.collection);
    const { id } = await shops.insert({ name: "new", owner: "ann" });
    expect((await as("bob", "POST", "/products", { shop: id })).status).toBe(403);
    expect(await shops.get(id)).toMatchObject({ name: "new" });
    expect((await as("ann", "POST", "/products", { shop: id })).status).toBe(201);
    expect(await shops.get(id)).toMatchObject({ name: "asked" });
  });

  it("of a change is asked in the transaction of the change, where there is one", async () => {
    const joined: boolean[] = [];
    const related = defineResource({
      name: "product",
      path: "/products",
      schema: z.object({ shop: z.string() }),
      access: {
        update: ({ transaction }) => joined.push(transaction !== undefined) > 0,
      },
      relations: { shop: { to: (): Resource => shop } },
    });
    const { as, store } = await openAsUsers(
      ([shop, related] as readonly Resource[]).flatMap((one) =>
        resourceRoutes(one, createResourceController(one)),
      ),
    );
    const { id } = await store.collection(shop.collection).insert({ name: "a", owner: "ann" });
    const made = await store.collection(related.collection).insert({ shop: id });
    expect((await as("ann", "PUT", `/products/${made.id}`, { shop: id })).status).toBe(200);
    expect(joined).toEqual([false, true]);
  });
});
