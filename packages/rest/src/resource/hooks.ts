import type { Stored, Transaction, UntypedWhere } from "@fetchwork/documents";
import type { Fields } from "../fields.ts";
import type { ResourceCall } from "./call.ts";

type Result<T> = Promise<T> | T;

/** Event that every hook receives. */
export interface HookEvent {
  /** The request and its caller. */
  readonly call: ResourceCall<unknown>;
}

/** Event that a hook before a change receives. */
export interface ChangeEvent extends HookEvent {
  /** The transaction of the change, for reads and writes of the hook that belong to the change. */
  readonly transaction: Transaction;
}

/**
 * Functions that run before and after the operations of a resource.
 *
 * A hook before an operation runs once the access rule and the validation have let the request
 * pass. It refuses by throwing a `Problem`. Before a change it runs in the transaction of that
 * change: what it throws undoes everything. It may be called again when somebody else came between.
 * So it should do nothing that cannot be undone. Fields that it returns take the place of those it
 * was given and are stored without further validation.
 *
 * A hook after a change runs after the commit, before the response is sent. The change stays, so
 * what it throws is reported and does not become the response.
 */
export interface ResourceHooks<T extends object = Fields> {
  /** May return a filter that documents have to pass too, such as those of the caller's tenant. */
  beforeList?(event: HookEvent): Result<UntypedWhere | undefined | void>;
  /** May return other rows to show: as many, in the same order. */
  afterList?(
    event: HookEvent & {
      readonly documents: readonly Stored<T>[];
      readonly rows: readonly Fields[];
    },
  ): Result<readonly Fields[] | undefined | void>;
  /** Before a single document is shown. */
  beforeShow?(event: HookEvent & { readonly id: string }): Result<void>;
  /** May return other fields to show; what it throws becomes the response. */
  afterShow?(
    event: HookEvent & { readonly document: Stored<T>; readonly shown: Fields },
  ): Result<Fields | undefined | void>;
  /** May return all fields to store, such as `{ ...fields, number }`. */
  beforeCreate?(
    event: ChangeEvent & { readonly fields: Fields & T },
  ): Result<(Fields & T) | undefined | void>;
  /** After the commit of a creation. */
  afterCreate?(event: HookEvent & { readonly document: Stored<T> }): Result<void>;
  /** Before PUT and PATCH; `fields` are all fields as they would be stored. May return them. */
  beforeUpdate?(
    event: ChangeEvent & { readonly current: Stored<T>; readonly fields: Fields & T },
  ): Result<(Fields & T) | undefined | void>;
  afterUpdate?(
    event: HookEvent & { readonly before: Stored<T>; readonly document: Stored<T> },
  ): Result<void>;
  /** Before a removal, also one by a cascade. */
  beforeRemove?(event: ChangeEvent & { readonly current: Stored<T> }): Result<void>;
  /** After the commit of a removal. */
  afterRemove?(event: HookEvent & { readonly document: Stored<T> }): Result<void>;
  /** Before a removed document comes back. */
  beforeRestore?(event: ChangeEvent & { readonly current: Stored<T> }): Result<void>;
  /** After the commit of a restoration. */
  afterRestore?(event: HookEvent & { readonly document: Stored<T> }): Result<void>;
}

/** Runs what follows a change: at once, or after the commit of the call's transaction. */
export async function afterChange(
  call: ResourceCall<unknown>,
  work: () => Promise<void> | void,
): Promise<void> {
  const reported = async (): Promise<void> => {
    try {
      await work();
    } catch (error) {
      call.report(error);
    }
  };
  if (call.transaction && call.afterCommit) call.afterCommit(reported);
  else await reported();
}
