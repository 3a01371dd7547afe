import type { CollectionDefinition, Stored, Transaction } from "@fetchwork/documents";
import type { Fields } from "../../fields.ts";
import type { PublicUsers } from "../public-user.ts";

/** Action on a document when the one that it refers to is deleted. */
export type OnDelete = "cascade" | "nullify" | "restrict";

/** Where a resource keeps the identifiers of other documents. */
export interface ReferenceField {
  readonly field: string;
  readonly many: boolean;
  readonly onDelete: OnDelete;
  /** Whether the field becomes `null` when its identifier is removed, instead of disappearing. */
  readonly keepsNull: boolean;
}

/** Where the documents of a resource are. */
export interface Kept {
  readonly collection: CollectionDefinition<Fields>;
}

/** The hooks of a resource before and after a removal; `call` is the one of the deletion. */
export interface RemovalHooks {
  beforeRemove?(event: {
    readonly call: object;
    readonly transaction: Transaction;
    readonly current: Stored<Fields>;
  }): Promise<void> | void;
  afterRemove?(event: {
    readonly call: object;
    readonly document: Stored<Fields>;
  }): Promise<void> | void;
}

/** A resource with a relation that leads to another one. */
export interface Referrer extends Kept {
  /** Name of the resource's documents, in the plural. */
  readonly plural: string;
  /** Run for documents that go with the one that they refer to. */
  readonly hooks: RemovalHooks;
  readonly reference: ReferenceField;
}

/** Relations from one resource of an API to another. */
export interface ResourceGraph {
  /** Relations that lead to a resource. */
  referrersOf(resource: Kept): readonly Referrer[];
  /** The users of the API, who own themselves. Default: documents do not show their owners. */
  readonly users?: PublicUsers | undefined;
}
