import { defineCollection, type Migration } from "@fetchwork/documents";

/** A document of the shop that the tests of `fetchwork db` look after. */
export interface Item {
  readonly name: string;
  readonly price?: number | undefined;
}

export const items = defineCollection<Item>("items", {
  unique: ["name"],
  indexes: ["price", "name"],
  search: ["name"],
  softDelete: true,
});

export const others = [defineCollection<Item>("orders")];

export const migrations: readonly Migration[] = [
  {
    id: 1,
    name: "give every item a price",
    up: async (tx) => {
      const bare = defineCollection<Item>("items", { softDelete: true });
      for (const { id } of await tx.collection(bare).find({ where: { price: null } })) {
        await tx.collection(bare).update(id, { price: 0 });
      }
    },
  },
];
