import type { Stored, Transaction } from "@fetchwork/documents";
import type { Account } from "../account.ts";
import type { Fields } from "../resource.ts";
import type { BodyFields, Call } from "../route.ts";

/** What a controller's handlers are called with. */
export interface ResourceCall<Body = BodyFields> extends Call<Body, Account | undefined> {
  /** The document at the address, where the access rule needed it. */
  readonly document?: Stored<Fields> | undefined;
}

/** Handles one operation of a resource. */
export type ResourceHandler<Body = BodyFields> = (call: ResourceCall<Body>) => Promise<Response>;

/** Reads the identifier in the path. */
export function idOf({ params }: Pick<ResourceCall, "params">): string {
  return params["id"] ?? "";
}

/** Runs changes together: in the transaction that the call is part of, or in one of its own. */
export function writeTogether<R>(
  { store, transaction }: Pick<ResourceCall<unknown>, "store" | "transaction">,
  work: (transaction: Transaction) => Promise<R>,
): Promise<R> {
  return transaction ? work(transaction) : store.transaction(work);
}
