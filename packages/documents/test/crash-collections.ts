import { defineCollection } from "../src/index.ts";

/** A member whose `changes` always equals its version; `pair` is set by a transaction. */
export interface Member {
  email: string;
  changes: number;
  pair?: string;
  filler: string;
}

/** The members that are written, and killed, in the crash test. */
export const members = defineCollection<Member>("members", {
  unique: ["email"],
  indexes: ["changes"],
  search: ["email"],
  changes: "documents",
});

/** The other half of each transaction. */
export const ledger = defineCollection<{ pair: string }>("ledger", { unique: ["pair"] });

/** What the writer says after the store acknowledged it, one JSON text a line. */
export type Acknowledged =
  | {
      readonly kind: "insert" | "update";
      readonly id: string;
      readonly email: string;
      readonly version: number;
    }
  | { readonly kind: "pair"; readonly pair: string }
  | { readonly kind: "removing"; readonly id: string }
  | { readonly kind: "removed"; readonly id: string };
