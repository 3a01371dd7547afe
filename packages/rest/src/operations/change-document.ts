import type { Collection, Stored, Transaction } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import { requireAccess } from "../plan/resource-access.ts";
import type { Operation } from "../resource/access-rules.ts";
import { idOf, type ResourceCall, writeTogether } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import { writeConditionally } from "./conditional-write.ts";
import { joinCall } from "./joined-call.ts";

/** A document that is about to be changed. */
interface Changing {
  readonly current: Stored<Fields>;
  readonly documents: Collection<Fields>;
  /** Given when a transaction was asked for, or the call is part of one. */
  readonly transaction: Transaction | undefined;
}

/** How {@link changeDocument} goes about it. */
interface ChangePlan<R> {
  /** Operation whose rule is applied. */
  readonly operation: Operation;
  /** Whether the change is made in a transaction, with everything else that is read and written. */
  readonly isTogether: boolean;
  /**
   * Makes the change with `ifVersion: current`; resolves to `undefined` when the document is gone.
   * Called again when somebody else came between.
   */
  readonly change: (changing: Changing) => Promise<R | undefined>;
}

/**
 * Changes the document at the address of a call under its conditions, after the rule of the
 * resource.
 *
 * The rule was applied to the document as the call was handled; to one that was read again it is
 * applied again.
 *
 * @throws Problem 404 when there is no such document, 412 when `If-Match` or `If-None-Match` does
 * not hold, 401 or 403 when the rule of the resource refuses the document as it is now.
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
        name: resource.name,
        request,
        current: document,
        etag: (current) => resource.tagOf(current, call),
        check:
          document &&
          ((read, at) =>
            requireAccess(resource, operation, {
              call: at ? joinCall(call, at) : call,
              document: read,
            })),
      },
      (current, documents) => change({ current, documents, transaction }),
    );
  return isTogether ? writeTogether(call, write) : write(call.transaction);
}
