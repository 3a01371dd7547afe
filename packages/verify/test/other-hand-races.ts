import { defineResource, type ResourceHooks, resourceRoutes } from "@fetchwork/rest";
import { z } from "zod";
import { invariant } from "../src/index.ts";
import { twins } from "./other-hand.ts";
import { type Seeded, serviceOf } from "./seeded.ts";

const access = { list: "public", show: "public", create: "user" } as const;
const stockItem = defineResource({
  name: "stockItem",
  path: "/stock-items",
  schema: z.object({ title: z.string(), stock: z.int().default(100) }),
  fields: { stock: { write: "nobody" } },
  access,
});
const purchase = {
  name: "purchase",
  path: "/purchases",
  schema: z.object({ item: z.string(), quantity: z.int().min(1).max(9) }),
  fields: { item: { update: "nobody" } },
  owner: "buyer",
  access: { ...access, update: "owner", remove: "owner", restore: "owner" },
  relations: { item: { to: () => stockItem } },
  softDelete: true,
} as const;
const purchases = defineResource(purchase);

const kept = invariant("stock and purchases", stockItem, async ({ id, stock }, store) => {
  const where = { item: id };
  const found = await store.collection(purchases.collection).find({ where, limit: 1000 });
  return stock + found.reduce((sum, { quantity }) => sum + quantity, 0);
});

type Purchase = z.output<typeof purchase.schema>;
type Hooks = ResourceHooks<Purchase>;

/** Each change of purchases takes from the stock, or returns to it. */
const hooks: Required<
  Pick<Hooks, "beforeCreate" | "beforeRemove" | "beforeRestore" | "beforeUpdate">
> = {
  beforeCreate: ({ fields, transaction }) => take(transaction, fields.item, fields.quantity),
  beforeUpdate: ({ current, fields, transaction }) =>
    take(transaction, current.item, fields.quantity - current.quantity),
  beforeRemove: ({ current, transaction }) => take(transaction, current.item, -current.quantity),
  beforeRestore: ({ current, transaction }) => take(transaction, current.item, current.quantity),
};

async function take(
  transaction: Parameters<NonNullable<Hooks["beforeCreate"]>>[0]["transaction"],
  id: string,
  by: number,
): Promise<undefined> {
  await transaction.collection(stockItem.collection).increment(id, { stock: -by });
  return undefined;
}

/** Further faults by which derived data becomes wrong. */
export const furtherRaceFaults: readonly Seeded[] = [
  {
    name: "a stock that a restored purchase does not take",
    invariants: [kept],
    expected: broken("once restore purchase"),
    ...without("beforeRestore"),
  },
  {
    name: "a stock that does not follow a changed quantity",
    invariants: [kept],
    expected: broken("once update purchase"),
    ...without("beforeUpdate"),
  },
];

function broken(way: string): Seeded["expected"] {
  return { code: "invariant-broken", field: "stock and purchases", way };
}

function without(forgotten: "beforeRestore" | "beforeUpdate") {
  return twins((isRepaired) => {
    const some: Hooks = isRepaired ? hooks : { ...hooks, [forgotten]: undefined };
    return serviceOf(
      resourceRoutes(stockItem),
      resourceRoutes(defineResource({ ...purchase, hooks: some })),
    );
  });
}
