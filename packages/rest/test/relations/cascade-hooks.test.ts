import type { CollectionDefinition } from "@fetchwork/documents";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { resourceRoutes } from "../../src/http/resource-routes.ts";
import { createResourceController } from "../../src/operations/resource-controller.ts";
import { Problem } from "../../src/problem.ts";
import { defineResource } from "../../src/resource/define-resource.ts";
import type { ResourceHooks } from "../../src/resource/hooks.ts";
import { openAsUsers } from "../as-users.ts";

const open = {
  list: "public",
  show: "public",
  create: "public",
  update: "public",
  remove: "public",
} as const;

const person = defineResource({
  name: "person",
  path: "/people",
  schema: z.object({ name: z.string() }),
  access: open,
});
const product = defineResource({
  name: "product",
  path: "/products",
  schema: z.object({ name: z.string(), reviews: z.int().default(0) }),
  access: open,
  sort: ["name"],
});
const reviewSchema = z.object({ by: z.string(), product: z.string(), next: z.string().optional() });
type Review = z.infer<typeof reviewSchema>;

/**
 * Reviews of products by people, which go with either; a product keeps the number of its reviews.
 */
async function openReviews(hooks: ResourceHooks<Review> = {}) {
  const review = defineResource({
    name: "review",
    path: "/reviews",
    schema: reviewSchema,
    access: open,
    changes: "documents",
    relations: {
      by: { to: () => person, onDelete: "cascade" },
      product: { to: () => product, onDelete: "cascade" },
    },
    hooks: {
      async beforeCreate({ fields, transaction }) {
        await transaction.collection(product.collection).increment(fields.product, { reviews: 1 });
      },
      async beforeRemove({ current, transaction }) {
        await transaction
          .collection(product.collection)
          .increment(current.product, { reviews: -1 });
      },
      ...hooks,
    },
  });
  const reports: unknown[] = [];
  const api = await openAsUsers(
    [
      ...resourceRoutes(person, createResourceController(person)),
      ...resourceRoutes(product, createResourceController(product)),
      ...resourceRoutes(review, createResourceController(review)),
    ],
    { reportError: (error) => reports.push(error) },
  );
  async function make(path: string, fields: object): Promise<string> {
    const { json, status } = await api.as("", "POST", path, fields);
    expect(status).toBe(201);
    return json.id;
  }
  const by = await make("/people", { name: "Ada" });
  const other = await make("/people", { name: "Bob" });
  const products = [
    await make("/products", { name: "a" }),
    await make("/products", { name: "b" }),
  ] as const;
  for (const one of products) await make("/reviews", { by, product: one });
  await make("/reviews", { by: other, product: products[0] });
  const counts = async () =>
    (await api.as("", "GET", "/products?sort=name")).json.map(
      ({ reviews }: { reviews: number }) => reviews,
    );
  return { ...api, review, by, products, counts, reports };
}

describe("a cascade", () => {
  it("runs the hooks of what it removes, so that counts stay right", async () => {
    const afterRemove = vi.fn();
    const { as, by, counts, store, review } = await openReviews({ afterRemove });
    expect(await counts()).toEqual([2, 1]);
    expect((await as("", "DELETE", `/people/${by}`)).status).toBe(204);
    expect(await store.collection(review.collection).count()).toBe(1);
    expect(await counts()).toEqual([1, 0]);
    const removed = afterRemove.mock.calls.map(([{ document }]) => document.by);
    expect(removed).toEqual([by, by]);
  });

  it("is in the change feed with each document that it removes", async () => {
    const { as, by, review, store } = await openReviews();
    const gone = await store.collection(review.collection).find({ where: { by } });
    expect((await as("", "DELETE", `/people/${by}`)).status).toBe(204);
    const changes = await Array.fromAsync(store.changes({ atEnd: "end" }));
    const removed = changes.filter(({ kind }) => kind === "remove").map(({ id }) => id);
    expect(removed.toSorted()).toEqual(gone.map(({ id }) => id).toSorted());
    expect(removed).toHaveLength(2);
  });

  it("removes a document that the hooks of what goes with it have changed", async () => {
    const { as, counts, products } = await openReviews();
    expect((await as("", "DELETE", `/products/${products[0]}`)).status).toBe(204);
    expect(await counts()).toEqual([1]);
  });

  it("is undone as a whole by a hook that refuses", async () => {
    let asked = 0;
    const afterRemove = vi.fn();
    const { as, by, counts, store, review } = await openReviews({
      afterRemove,
      async beforeRemove({ current, transaction }) {
        await transaction
          .collection(product.collection)
          .increment(current.product, { reviews: -1 });
        asked += 1;
        if (asked === 2) throw new Problem(422, { detail: "this one stays" });
      },
    });
    const refused = await as("", "DELETE", `/people/${by}`);
    expect([refused.status, refused.json.detail]).toEqual([422, "this one stays"]);
    expect(await store.collection(review.collection).count()).toBe(3);
    expect(await counts()).toEqual([2, 1]);
    expect(afterRemove).not.toHaveBeenCalled();
  });

  it("passes each hook the document as hooks before it have left it", async () => {
    const seen: unknown[] = [];
    const stored = { current: undefined as unknown as CollectionDefinition<Review> };
    const { as, by, review } = await openReviews({
      async beforeRemove({ current, transaction }) {
        seen.push(current.next);
        const reviews = transaction.collection(stored.current);
        await reviews.updateMany({ where: { by: current.by }, change: { next: "x" } });
      },
    });
    stored.current = review.collection;
    expect((await as("", "DELETE", `/people/${by}`)).status).toBe(204);
    expect(seen).toEqual([undefined, "x"]);
  });

  it("leaves what a hook has given to another document", async () => {
    const { as, products, review, store } = await openReviews({
      async beforeRemove({ current, transaction }) {
        const reviews = transaction.collection(review.collection);
        const others = await reviews.find({ where: { product: products[0] } });
        for (const { id } of others) {
          if (id !== current.id) await reviews.update(id, { product: products[1] });
        }
      },
    });
    expect((await as("", "DELETE", `/products/${products[0]}`)).status).toBe(204);
    const left = await store.collection(review.collection).find();
    expect(left.map(({ product: of }) => of)).toEqual([products[1], products[1]]);
  });

  it("removes what a hook adds to the document that goes", async () => {
    let added = 0;
    const { as, by, products, review, store } = await openReviews({
      async beforeRemove({ transaction }) {
        added += 1;
        if (added > 2) return;
        await transaction.collection(review.collection).insert({ by, product: products[0] });
      },
    });
    expect((await as("", "DELETE", `/products/${products[0]}`)).status).toBe(204);
    const left = await store.collection(review.collection).find();
    expect(left.map(({ product: of }) => of)).toEqual([products[1]]);
  });

  it("keeps what it did when a hook after a removal fails, which is reported", async () => {
    const { as, by, reports, store, review } = await openReviews({
      afterRemove() {
        throw new Error("after");
      },
    });
    expect((await as("", "DELETE", `/people/${by}`)).status).toBe(204);
    expect(await store.collection(review.collection).count()).toBe(1);
    expect(reports).toHaveLength(2);
  });
});
