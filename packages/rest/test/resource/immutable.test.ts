import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { openAsUsers } from "../as-users.ts";
import { openResource } from "../resource-client.ts";

const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({
    shop: z.string(),
    name: z.string(),
    size: z.object({ width: z.int(), height: z.int() }).optional(),
    cost: z.int().default(0),
  }),
  access: { list: "public", show: "public", create: "user", update: "user", remove: "owner" },
  owner: "owner",
  fields: {
    shop: { update: "nobody" },
    size: { update: "nobody" },
    cost: { read: "owner", update: "nobody" },
  },
  bulk: true,
});

const created = { shop: "a", name: "Tea", size: { width: 1, height: 2 }, cost: 3 };
const moved = {
  valid: false,
  param: "shop",
  name: "immutable",
  message: "shop is set when the product is created, and not changed",
};

async function open() {
  const api = await openResource(product);
  const { json } = await api.as("ann", "POST", "/products", created);
  return { ...api, id: json.id as string };
}

describe("immutable fields", () => {
  it.each(["PUT", "PATCH"])(
    "are refused with another value by %s, for admins too",
    async (method) => {
      const { as, id } = await open();
      for (const who of ["ann", "root"]) {
        const { status, json } = await as(who, method, `/products/${id}`, { name: "b", shop: "b" });
        expect(status).toBe(400);
        expect(json.errors).toEqual([moved]);
      }
      const wider = { size: { width: 2, height: 2 } };
      expect((await as("ann", method, `/products/${id}`, wider)).json.errors).toMatchObject([
        { param: "size", name: "immutable" },
      ]);
      expect((await as("", "GET", `/products/${id}`)).json).toMatchObject({
        shop: "a",
        name: "Tea",
      });
    },
  );

  it.each(["PUT", "PATCH"])("may be sent back with the same value by %s", async (method) => {
    const { as, id } = await open();
    const same = { ...created, name: "b", size: { height: 2, width: 1 } };
    const { status, json } = await as("ann", method, `/products/${id}`, same);
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...created, name: "b" });
  });

  it("are neither removed by a patch nor added later", async () => {
    const { as, id } = await open();
    expect((await as("ann", "PATCH", `/products/${id}`, { size: null })).status).toBe(400);
    const { size: _, ...without } = created;
    const { json } = await as("ann", "POST", "/products", without);
    const added = await as("ann", "PATCH", `/products/${json.id}`, { size: created.size });
    expect(added.json.errors).toMatchObject([{ param: "size" }]);
  });

  it("that a caller does not see are refused whatever the value, which would tell it", async () => {
    const { as, id } = await open();
    for (const cost of [3, 4]) {
      expect((await as("bob", "PATCH", `/products/${id}`, { cost })).status).toBe(400);
    }
    expect((await as("ann", "PATCH", `/products/${id}`, { cost: 3 })).status).toBe(200);
  });

  it("are refused in bulk requests, with the position", async () => {
    const { as, id } = await open();
    for (const op of ["update", "patch"]) {
      const operations = [{ op, id, body: { shop: "b" } }];
      const { status, json } = await as("ann", "POST", "/products/bulk", { operations });
      expect(status).toBe(400);
      expect(json.errors).toEqual([{ ...moved, index: 0 }]);
    }
  });

  it("are changed by the program", async () => {
    const { store, id } = await open();
    const documents = store.collection(product.collection);
    expect(await documents.update(id, { shop: "b" })).toMatchObject({ shop: "b" });
  });

  it("are absent from the bodies of changes in the reference", async () => {
    const { openApi } = await openAsUsers(resourceRoutes(product));
    const { schemas } = openApi.components as {
      readonly schemas: Readonly<Record<string, { readonly properties: object }>>;
    };
    expect(Object.keys(schemas["NewProduct"]?.properties ?? {})).toContain("shop");
    for (const name of ["ProductUpdate", "ProductPatch"]) {
      expect(Object.keys(schemas[name]?.properties ?? {})).toEqual(["name"]);
    }
  });
});
