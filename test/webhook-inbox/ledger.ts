import { defineCollection } from "@fetchwork/documents";

/** What the shop sold. Its id is that of the event. */
export interface Order {
  readonly account: string;
  readonly cents: number;
}

/** What the bank booked for an account. */
export interface Account {
  readonly cents: number;
  /** The ids of the events, in the order in which they were handled. */
  readonly events: readonly string[];
}

export const orders = defineCollection<Order>("orders");
export const accounts = defineCollection<Account>("accounts");
