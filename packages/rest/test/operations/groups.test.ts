import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import { listParameter } from "../../src/resource/list-parameter.ts";
import { openAsUsers } from "../as-users.ts";

const order = defineResource({
  name: "order",
  path: "/orders",
  schema: z.object({
    state: z.enum(["open", "paid"]),
    total: z.number().optional(),
    text: z.string().default(""),
    gift: z.boolean().default(false),
    tags: z.array(z.string()).default([]),
    address: z.object({ city: z.string() }).optional(),
    margin: z.number().optional(),
    hide: z.boolean().default(false),
  }),
  access: { list: "public", show: "public", create: "user", update: "user" },
  owner: "by_",
  fields: { margin: "admin", address: "owner" },
  search: ["text"],
  filter: ["state", "total", "margin"],
  groups: ["state", "total", "gift", "address.city", "margin", "by_", "createdAt"],
  list: {
    parameters: {
      least: listParameter({ schema: z.number(), where: (total) => ({ total: { gte: total } }) }),
    },
  },
  hooks: {
    beforeList: ({ call }) => (call.user?.role === "admin" ? undefined : { hide: { eq: false } }),
  },
  softDelete: true,
});

async function open() {
  const api = await openAsUsers(resourceRoutes(order, createResourceController(order)));
  const orders = api.store.collection(order.collection);
  const common = { text: "", gift: false, tags: [], hide: false };
  await orders.insert({ ...common, state: "open", total: 0.1, text: "tea", margin: 5, by_: "ann" });
  await orders.insert({ ...common, state: "open", total: 0.2, address: { city: "Rome" } });
  await orders.insert({ ...common, state: "paid", total: 30, gift: true, text: "teapot" });
  await orders.insert({ ...common, state: "paid", text: "cup" });
  await orders.insert({ ...common, state: "paid", total: 1_000, hide: true });
  const { id } = await orders.insert({ ...common, state: "paid", total: 9_999 });
  await orders.remove(id);
  return { ...api, orders };
}

describe("the groups of a resource", () => {
  it("have the number of documents and what is asked for of their values", async () => {
    const { as } = await open();
    const query = "by=state&sum=total&avg=total&min=total,createdAt&max=total";
    const { json, headers, status } = await as("", "GET", `/orders/groups?${query}`);
    expect(status).toBe(200);
    const time = expect.stringMatching(/^2\d{3}-/);
    expect(json).toEqual([
      {
        by: { state: "open" },
        count: 2,
        sum: { total: 0.3 },
        avg: { total: 0.15 },
        min: { total: 0.1, createdAt: time },
        max: { total: 0.2 },
      },
      {
        by: { state: "paid" },
        count: 2,
        sum: { total: 30 },
        avg: { total: 30 },
        min: { total: 30, createdAt: time },
        max: { total: 30 },
      },
    ]);
    expect(headers.get("x-total-count")).toBe("2");
    expect(headers.get("x-total-count-capped")).toBeNull();
  });

  it("are one without by, and of the documents that the list would show", async () => {
    const { as } = await open();
    const groups = async (who: string, query: string) =>
      (await as(who, "GET", `/orders/groups?${query}`)).json;
    expect(await groups("", "")).toEqual([{ by: {}, count: 4 }]);
    expect(await groups("root", "")).toEqual([{ by: {}, count: 5 }]);
    expect(await groups("", "q=tea")).toEqual([{ by: {}, count: 2 }]);
    expect(await groups("", "total[gte]=0.2&by=gift&sort=-gift")).toEqual([
      { by: { gift: true }, count: 1 },
      { by: { gift: false }, count: 1 },
    ]);
    expect(await groups("", "least=30")).toEqual([{ by: {}, count: 1 }]);
    const where = encodeURIComponent(JSON.stringify({ or: [{ state: "open" }, { total: 30 }] }));
    expect(await groups("", `where=${where}`)).toEqual([{ by: {}, count: 3 }]);
    expect(await groups("", "by=by_")).toEqual([
      { by: { by_: null }, count: 3 },
      { by: { by_: "ann" }, count: 1 },
    ]);
  });

  it("are sorted by values, and say when there are more", async () => {
    const { as } = await open();
    const { json, headers } = await as(
      "",
      "GET",
      "/orders/groups?by=total&sum=total&sort=-sum.total&limit=2",
    );
    expect(json.map(({ sum }: { sum: object }) => sum)).toEqual([{ total: 30 }, { total: 0.2 }]);
    expect(headers.get("x-total-count-capped")).toBe("true");
    const counted = await as("", "GET", "/orders/groups?by=gift&sort=count,-gift");
    expect(counted.json.map(({ count }: { count: number }) => count)).toEqual([1, 3]);
  });

  it("are not sent again to who has them", async () => {
    const { as, orders } = await open();
    const first = await as("", "GET", "/orders/groups?by=state");
    const stale = { "if-none-match": first.headers.get("etag") };
    expect((await as("", "GET", "/orders/groups?by=state", undefined, stale)).status).toBe(304);
    await orders.insert({ state: "open", text: "", gift: false, tags: [], hide: false });
    expect((await as("", "GET", "/orders/groups?by=state", undefined, stale)).status).toBe(200);
  });

  it.each([
    ["by=text", "by"],
    ["by=tags", "by"],
    ["by=state,none", "by"],
    ["by=__proto__", "by"],
    ["sum=state", "sum"],
    ["avg=gift", "avg"],
    ["min=gift", "min"],
    ["sort=total", "sort"],
    ["sum=total&sort=avg.total", "sort"],
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=1&limit=2", "limit"],
    ["page=1", "page"],
    ["after=", "after"],
    ["fields=state", "fields"],
    ["trash=only", "trash"],
    ["state=none", "state"],
    ["count=1", "count"],
    ["q=aa+ab+ac+ad+ae+af+ag+ah", "q"],
  ])("refuse %s", async (query, param) => {
    const { as } = await open();
    const refused = await as("root", "GET", `/orders/groups?${query}`);
    expect([refused.status, refused.json.param]).toEqual([400, param]);
  });

  it("name all parameters that are wrong", async () => {
    const { as } = await open();
    const { json } = await as("", "GET", "/orders/groups?by=x&sum=y&state=z&page=1");
    const params = json.errors.map(({ param }: { param: string }) => param);
    expect(params.toSorted()).toEqual(["by", "page", "state", "sum"]);
  });

  it.each([
    ["", 400],
    ["ann", 400],
    ["root", 200],
  ])("tell %j about what it does not see of others with status %i", async (who, status) => {
    const { as } = await open();
    for (const query of [
      "by=margin",
      "by=address.city",
      "sum=margin",
      "min=margin",
      "max=address.city",
      "sum=total,margin",
      "margin=5",
    ]) {
      expect([query, (await as(who, "GET", `/orders/groups?${query}`)).status]).toEqual([
        query,
        status,
      ]);
    }
  });

  it.each([
    ["user", "", 401],
    ["user", "ann", 200],
    ["admin", "ann", 403],
    ["admin", "root", 200],
    ["master", "root", 403],
    ["master", "master", 200],
  ] as const)(
    "have the rule %s of the list, which answers %j with %i",
    async (list, who, status) => {
      const thing = defineResource({
        name: "thing",
        path: "/things",
        schema: z.object({ kind: z.string() }),
        access: { list },
        groups: ["kind"],
      });
      const { as } = await openAsUsers(resourceRoutes(thing, createResourceController(thing)));
      expect((await as(who, "GET", "/things/groups?by=kind")).status).toBe(status);
    },
  );

  it("are described, with the schema of a group", async () => {
    const { openApi } = await open();
    const { schemas } = openApi.components as { schemas: Record<string, object> };
    expect(schemas["OrderGroup"]).toMatchObject({
      properties: { count: { type: "integer" }, sum: { properties: { total: {} } } },
    });
    const { get } = openApi.paths["/orders/groups"] as {
      get: { parameters: { name: string }[] };
    };
    const names = get.parameters.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["by", "sum", "avg", "min", "max", "sort", "q"]));
    expect(names).not.toContain("page");
  });

  const schema = z.object({ name: z.string(), tags: z.array(z.string()), sum: z.string() });
  it.each<[object, RegExp]>([
    [{ groups: ["none"] }, /no field none/],
    [{ groups: ["tags"] }, /makes no groups/],
    [{ groups: ["name"], fields: { name: { read: "nobody" } } }, /nobody sees/],
    [{ groups: ["name"], filter: ["sum"] }, /parameter sum/],
    [
      {
        groups: ["name"],
        list: {
          parameters: { by: listParameter({ schema: z.string(), where: (name) => ({ name }) }) },
        },
      },
      /parameter by/,
    ],
  ])("are not defined by %j", (options, message) => {
    const base = { name: "one", path: "/ones", schema, access: {} };
    expect(() => defineResource({ ...base, ...options })).toThrow(message);
  });
});
