import type { Stored } from "@fetchwork/documents";
import type { AccessRule } from "../access.ts";
import type { Account } from "../account.ts";
import type { Fields } from "../fields.ts";
import type { ResourceCall } from "./call.ts";

/** Operations of a resource. */
export type Operation = "list" | "show" | "create" | "update" | "remove" | "restore";

/** Input of a rule function: the call, whose `store` may be asked for other documents. */
export interface AccessCall<
  Document extends object = Fields,
  New = Fields | undefined,
> extends Omit<ResourceCall<unknown>, "document"> {
  /** The same as `user`; `undefined` for nobody. */
  readonly caller: Account | undefined;
  /** The document at the address, for show, update, remove and restore; `undefined` without one. */
  readonly document?: Stored<Document> | undefined;
  /** For create: the validated fields with the owner, before hooks; `undefined` otherwise. */
  readonly fields: New;
}

/**
 * Decides whether a call may go on. Without a document at the address, `true` leads to 404. A
 * caller who may not gets a 401 without a valid token, and else a 403. A creation runs in one
 * transaction with the question, and both may be repeated.
 */
export type AccessFunction<Asked = AccessCall> = {
  // A method, so that a resource of some fields counts as a resource of any.
  ask(call: Asked): boolean | Promise<boolean>;
}["ask"];

/**
 * Rules that an operation of a resource may have: those of routes; `owner`, which lets pass the
 * user who created the document, and admins, and lists to users only what they have created; and a
 * function.
 */
export type ResourceRule<Asked = AccessCall> =
  AccessFunction<Asked> | Exclude<AccessRule, "password" | "master+password"> | "owner";

/** Rules of the operations of a resource whose documents are of a type. */
export type AccessRules<Document extends object> = Readonly<
  Partial<
    Record<Exclude<Operation, "create">, ResourceRule<AccessCall<Document, undefined>>> &
      Record<"create", ResourceRule<AccessCall<Document, Document>>>
  >
>;
