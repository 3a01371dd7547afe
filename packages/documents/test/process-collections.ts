import { defineCollection } from "../src/index.ts";

/** What several processes count in. */
export const counters = defineCollection<{ name: string; value: number }>("counters", {
  unique: ["name"],
});
