import { empty } from "@fetchwork/http";
import {
  defineResource,
  defineRoute,
  Problem,
  type ResourceHooks,
  resourceRoutes,
  type Route,
} from "@fetchwork/rest";
import { z } from "zod";
import { invariant } from "../src/index.ts";
import { about, type Seeded, serviceOf } from "./seeded.ts";

const access = { list: "public", show: "public", create: "user", update: "user" } as const;
const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({
    title: z.string(),
    stock: z.int().default(3),
    sold: z.int().default(0),
  }),
  fields: { stock: { write: "nobody" }, sold: { write: "nobody" } },
  access,
});
const base = {
  name: "sale",
  path: "/sales",
  schema: z.object({ product: z.string(), note: z.string().default("") }),
  access: { ...access, remove: "user" },
} as const;
const relations = { product: { to: () => product } } as const;
const moving = { ...base, relations };
const fixed = { ...moving, fields: { product: { update: "nobody" } } } as const;

const counted = invariant("sales are counted", product, async ({ id, sold }, store) => {
  const where = { product: id };
  return sold === (await store.collection(defineResource(fixed).collection).count({ where }));
});
const kept = invariant("stock + sold", product, ({ sold, stock }) => sold + stock);
const inStock = invariant("stock is not negative", product, ({ stock }) => stock >= 0);
const once = invariant("paid at most once", product, ({ sold }) => sold <= 1);

const buy = { ...about, method: "POST", operation: "buy", path: "/products/:id/buy" } as const;
const responses = {
  204: { description: "Done" },
  404: { description: "None" },
  409: { description: "Sold out" },
} as const;
const products = resourceRoutes(product);

/** Faults by which derived data becomes wrong. */
export const raceFaults: readonly Seeded[] = [
  {
    name: "a hook that counts by reading and writing",
    invariants: [counted],
    expected: broken("sales are counted", "race create sale"),
    ...ofHooks(
      {
        async afterCreate({ call, document }) {
          const all = call.store.collection(product.collection);
          const found = await all.get(document.product);
          if (found) await all.update(found.id, { sold: found.sold + 1 });
        },
        beforeRemove: ({ current, transaction }) => count(transaction, current.product, -1),
      },
      counting(),
    ),
  },
  {
    name: "a counter outside of the transaction",
    invariants: [counted],
    expected: { code: "invariant-broken", field: "sales are counted" },
    ...ofHooks(
      {
        afterCreate: ({ call, document }) => count(call.store, document.product, 1),
        beforeRemove: ({ current, transaction }) => count(transaction, current.product, -1),
      },
      counting(),
    ),
  },
  {
    name: "a count that a removal leaves",
    invariants: [counted],
    expected: broken("sales are counted", "once remove sale"),
    ...ofHooks(
      { beforeCreate: ({ fields, transaction }) => count(transaction, fields.product, 1) },
      counting(),
    ),
  },
  {
    name: "a count that stays with the product that a sale has left",
    invariants: [counted],
    expected: broken("sales are counted", "once move sale"),
    faulty: () =>
      serviceOf(products, resourceRoutes(defineResource({ ...moving, hooks: counting() }))),
    repaired: () =>
      serviceOf(products, resourceRoutes(defineResource({ ...fixed, hooks: counting() }))),
  },
  {
    name: "a cascade that leaves derived data",
    ...cascade(),
    expected: broken("reviews are counted", "once remove page of review"),
  },
  {
    name: "a route that reads, and writes what it has read",
    invariants: [kept],
    expected: broken("stock + sold", "race buy"),
    ...ofRoute(async ({ params, store }) => {
      const all = store.collection(product.collection);
      const found = await all.get(params["id"] ?? "");
      if (!found) throw new Problem(404);
      await all.increment(found.id, { sold: 1 });
      await all.update(found.id, { stock: found.stock - 1 });
      return empty(204);
    }, takeOne),
  },
  {
    name: "a route with two changes and no transaction",
    invariants: [kept],
    expected: broken("stock + sold", "crash buy"),
    ...ofRoute(async ({ params, store }) => {
      const all = store.collection(product.collection);
      const id = params["id"] ?? "";
      if (!(await all.increment(id, { sold: 1 }))) throw new Problem(404);
      await all.increment(id, { stock: -1 });
      return empty(204);
    }, takeOne),
  },
  {
    name: "a route that checks, and then takes",
    invariants: [inStock],
    expected: broken("stock is not negative", "race buy"),
    ...ofRoute(async ({ params, store }) => {
      const all = store.collection(product.collection);
      const found = await all.get(params["id"] ?? "");
      if (!found) throw new Problem(404);
      if (found.stock < 1) throw new Problem(409);
      await all.increment(found.id, { stock: -1, sold: 1 });
      return empty(204);
    }, takeOne),
  },
  {
    name: "a webhook that is handled twice",
    invariants: [once],
    expected: broken("paid at most once", "race buy"),
    ...ofRoute(
      async ({ params, store }) => {
        const changed = await store
          .collection(product.collection)
          .increment(params["id"] ?? "", { sold: 1 });
        if (!changed) throw new Problem(404);
        return empty(204);
      },
      async ({ params, store }) => {
        const changed = await store
          .collection(product.collection)
          .update(params["id"] ?? "", { sold: 1 });
        if (!changed) throw new Problem(404);
        return empty(204);
      },
    ),
  },
  {
    name: "an idempotent route whose effect happens twice",
    expected: { code: "repeated-effect", resource: "product", way: "buy" },
    ...ofRoute(async ({ params, store }) => {
      const all = store.collection(product.collection);
      const changed = await all.increment(params["id"] ?? "", { stock: -1, sold: 1 });
      if (!changed) throw new Problem(404);
      throw new Problem(409);
    }, takeOne),
  },
  {
    name: "a PUT that adds",
    expected: { code: "repeated-effect", resource: "product", way: "buy" },
    ...ofRoute(
      async ({ params, store }) => {
        const all = store.collection(product.collection);
        if (!(await all.increment(params["id"] ?? "", { sold: 1 }))) throw new Problem(404);
        return empty(204);
      },
      async ({ params, store }) => {
        const all = store.collection(product.collection);
        if (!(await all.update(params["id"] ?? "", { sold: 1 }))) throw new Problem(404);
        return empty(204);
      },
      "PUT",
    ),
  },
];

function broken(field: string, way: string): Seeded["expected"] {
  return { code: "invariant-broken", field, way };
}

interface Sale {
  readonly product: string;
  readonly note: string;
}

type Writer = Pick<Parameters<Route["handle"]>[0]["store"], "collection">;

async function count(writer: Writer, id: string, by: number): Promise<undefined> {
  await writer.collection(product.collection).increment(id, { sold: by });
  return undefined;
}

function counting(): ResourceHooks<Sale> {
  return {
    beforeCreate: ({ fields, transaction }) => count(transaction, fields.product, 1),
    beforeRemove: ({ current, transaction }) => count(transaction, current.product, -1),
  };
}

function ofHooks(
  faulty: ResourceHooks<Sale>,
  repaired: ResourceHooks<Sale>,
): Pick<Seeded, "faulty" | "repaired"> {
  const of = (hooks: ResourceHooks<Sale>) => () =>
    serviceOf(products, resourceRoutes(defineResource({ ...fixed, hooks })));
  return { faulty: of(faulty), repaired: of(repaired) };
}

type Handle = Parameters<typeof defineRoute>[0]["handle"];

function ofRoute(
  faulty: Handle,
  repaired: Handle,
  method: "POST" | "PUT" = "POST",
): Pick<Seeded, "faulty" | "repaired"> {
  const of = (handle: Handle) => () =>
    serviceOf(products, defineRoute({ ...buy, method, access: "user", responses, handle }));
  return { faulty: of(faulty), repaired: of(repaired) };
}

async function takeOne({ params, store }: Parameters<Handle>[0]): Promise<Response> {
  await store.transaction(async (transaction) => {
    const all = transaction.collection(product.collection);
    const found = await all.get(params["id"] ?? "");
    if (!found) throw new Problem(404);
    if (found.stock < 1) throw new Problem(409);
    await all.increment(found.id, { stock: -1, sold: 1 });
  });
  return empty(204);
}

/** Reviews of pages of books, which are counted in books. */
function cascade(): Pick<Seeded, "faulty" | "invariants" | "repaired"> {
  const book = defineResource({
    name: "book",
    path: "/books",
    schema: z.object({ title: z.string(), reviews: z.int().default(0) }),
    fields: { reviews: { write: "nobody" } },
    access,
  });
  const page = defineResource({
    name: "page",
    path: "/pages",
    schema: z.object({ book: z.string() }),
    fields: { book: { update: "nobody" } },
    access: { ...access, remove: "user" },
    relations: { book: { to: () => book } },
  });
  const change = async (writer: Writer, id: string, by: number): Promise<undefined> => {
    const found = await writer.collection(page.collection).get(id);
    if (found) await writer.collection(book.collection).increment(found.book, { reviews: by });
    return undefined;
  };
  const hooksOf = (onDelete: string): ResourceHooks<{ readonly page: string }> => ({
    beforeCreate: ({ fields, transaction }) => change(transaction, fields.page, 1),
    ...(onDelete === "cascade"
      ? { afterRemove: ({ call, document }) => change(call.store, document.page, -1) }
      : { beforeRemove: ({ current, transaction }) => change(transaction, current.page, -1) }),
  });
  const review = (onDelete: "cascade" | "restrict") =>
    defineResource({
      name: "review",
      path: "/reviews",
      schema: z.object({ page: z.string() }),
      fields: { page: { update: "nobody" } },
      access: { ...access, remove: "user" },
      relations: { page: { to: () => page, onDelete } },
      hooks: hooksOf(onDelete),
    });
  const statement = invariant("reviews are counted", book, async ({ id, reviews }, store) => {
    const pages = await store.collection(page.collection).find({ where: { book: id } });
    const where = { page: { in: pages.map((one) => one.id) } };
    return reviews === (await store.collection(review("restrict").collection).count({ where }));
  });
  return { faulty: () => of("cascade"), repaired: () => of("restrict"), invariants: [statement] };

  function of(onDelete: "cascade" | "restrict") {
    return serviceOf(resourceRoutes(book), resourceRoutes(page), resourceRoutes(review(onDelete)));
  }
}
