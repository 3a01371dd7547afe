import { defineCollection, type Store } from "@fetchwork/documents";
import { jobCollections } from "@fetchwork/documents/jobs";
import { createInbox, type Inbox, type InboxOptions } from "@fetchwork/webhooks/inbox";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { expect, onTestFinished } from "vitest";

/** Events of any name. */
export interface AnyEvents {
  readonly [name: string]: { readonly [field: string]: unknown };
}

/** What the handlers of the tests write. */
interface Payment {
  event: string;
  total: number;
}

export const payments = defineCollection<Payment>("payments");
export const secret = "a secret of the test";

/** Makes an inbox that stops when the test ends. */
export function openInbox(
  store: Store,
  options: Partial<InboxOptions<AnyEvents>> = {},
): Inbox<AnyEvents> {
  const log = { warn: () => undefined, error: () => undefined };
  const backoff = { baseDelay: 1, maxDelay: 5 };
  const inbox = createInbox({ store, secret, vendor: fetchwork, log, backoff, ...options });
  onTestFinished(() => inbox.stop({ grace: 0 }));
  return inbox;
}

/** Writes a payment for each order. */
export function book(inbox: Inbox<AnyEvents>): void {
  inbox.on("order.paid", async ({ id, payload }, { transaction }) => {
    const total = Number(payload["total"]);
    await transaction.collection(payments).insert({ event: id, total });
  });
}

/** Counts the deliveries that have not ended, or are dead. */
export function waiting(store: Store): Promise<number> {
  return store.collection(jobCollections.jobs).count();
}

/** Waits until so many deliveries are handled. */
export async function untilHandled(store: Store, expected: number): Promise<void> {
  const count = (): Promise<number> => store.collection(jobCollections.done).count();
  await expect.poll(count, { interval: 5, timeout: 5000 }).toBe(expected);
}

/** A store whose transactions do what `transact` does, while that returns a promise. */
export function storeWith(store: Store, transact: () => Promise<never> | undefined): Store {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      const bound = method.bind(target) as (...args: unknown[]) => unknown;
      if (name !== "transaction") return bound;
      return (...args: unknown[]) => transact() ?? bound(...args);
    },
  });
}
