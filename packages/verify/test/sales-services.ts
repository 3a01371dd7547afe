import { appendFileSync } from "node:fs";
import { defineResource, resourceRoutes, type ResourceHooks } from "@fetchwork/rest";
import { accounts, defineUser } from "@fetchwork/rest/accounts";
import {
  accountSettings,
  defineConfig,
  defineService,
  serverSettings,
  type Service,
} from "@fetchwork/service";
import { z } from "zod";
import { invariant } from "../src/index.ts";

// The test reads which processes have loaded this module.
const log = process.env["SALES_PROCESSES"];
if (log !== undefined) appendFileSync(log, `${process.pid}\n`);

const access = { list: "public", show: "public", create: "user", update: "user" } as const;
const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({ title: z.string(), sold: z.int().default(0), noted: z.int().default(0) }),
  fields: { sold: { write: "nobody" }, noted: { write: "nobody" } },
  access,
});

interface Sale {
  readonly product: string;
}

/** A sale is counted twice: the first is without a transaction. */
export const faulty = sales("faulty-sales", {
  async afterCreate({ call, document }) {
    const all = call.store.collection(product.collection);
    await all.increment(document.product, { sold: 1 });
    await all.increment(document.product, { noted: 1 });
  },
});

/** The same with both changes in the transaction of the sale. */
export const repaired = sales("repaired-sales", {
  async beforeCreate({ fields, transaction }) {
    const all = transaction.collection(product.collection);
    await all.increment(fields.product, { sold: 1 });
    await all.increment(fields.product, { noted: 1 });
  },
});

/** What a hook that ends between its changes breaks. */
export const alike = invariant("sold is noted", product, ({ noted, sold }) => sold - noted);

function sales(name: string, hooks: ResourceHooks<Sale>): Service {
  const sale = defineResource({
    name: "sale",
    path: "/sales",
    schema: z.object({ product: z.string() }),
    fields: { product: { update: "nobody" } },
    relations: { product: { to: () => product } },
    access,
    hooks,
  });
  return defineService({
    name,
    config: defineConfig({ ...serverSettings, ...accountSettings }),
    accounts: accounts({ user: defineUser() }),
    resources: [resourceRoutes(product), resourceRoutes(sale)],
  });
}
