import type { Collection, Stored, Transaction } from "@fetchwork/documents";
import { writeConditionally } from "../conditional-write.ts";
import { requireAccess } from "../resource-access.ts";
import type { Fields, Resource } from "../resource.ts";
import type { Operation } from "../resource-options.ts";
import { idOf, writeTogether, type ResourceCall } from "./resource-call.ts";

/** A document that is about to be changed. */
export interface Changing {
  readonly current: Stored<Fields>;
  readonly documents: Collection<Fields>;
  /** Given when a transaction was asked for, or the call is part of one. */
  readonly transaction: Transaction | undefined;
}

/** How {@link changeDocument} goes about it. */
export interface ChangePlan<R> {
  readonly operation: Operation;
  /** Whether the change is made in a transaction, for a hook. */
  readonly isTogether: boolean;
  /** Makes the change with `ifVersion`; `undefined` when the document is gone. */
  readonly change: (changing: Changing) => Promise<R | undefined>;
}

/**
 * Changes the document at the address of a call under its conditions, after the rule of the resource.
 *
 * The rule was applied to the document as the call was answered; to one that was read again it is applied again.
 */
export function changeDocument<R>(
  resource: Resource,
  call: ResourceCall<unknown>,
  { operation, isTogether, change }: ChangePlan<R>,
): Promise<R> {
  const { collection } = resource;
  const { document, request, store } = call;
  const write = (transaction: Transaction | undefined): Promise<R> =>
    writeConditionally(
      {
        store,
        transaction,
        collection,
        id: idOf(call),
        request,
        current: document,
        check: document && ((read) => requireAccess(resource, operation, { call, document: read })),
      },
      (current, documents) => change({ current, documents, transaction }),
    );
  return isTogether ? writeTogether(call, write) : write(call.transaction);
}
