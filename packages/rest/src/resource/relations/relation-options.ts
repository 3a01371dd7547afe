import type { Resource } from "../resource.ts";
import type { OnDelete } from "./referrers.ts";

/** How documents of a resource belong to those of another one. */
export interface Relation {
  /**
   * The other resource. Where two resources refer to each other, one is written with its type,
   * which ends the circle of inference: `to: (): Resource => article`.
   */
  readonly to: () => Resource;
  /**
   * Field that holds the identifier; may be the owner field. Default: the name of the relation. Not
   * with `inverse`.
   */
  readonly field?: string | undefined;
  /** Whether the field is a list of identifiers. Default: `false`. */
  readonly many?: boolean | undefined;
  /**
   * Effect of a deletion of the other document: `restrict` refuses it with 409, `cascade` deletes
   * this one too, `nullify` takes the identifier out of the field. Default: `"restrict"`. Not with
   * `inverse`.
   */
  readonly onDelete?: OnDelete | undefined;
  /** The other resource's relation that leads here; this one then has many. Default: none. */
  readonly inverse?: string | undefined;
  /** Documents that an inverse relation shows, 1 to 100; the newest ones. Default: `20`. */
  readonly limit?: number | undefined;
}

/** Relations of a resource by name. */
export type Relations = Readonly<Record<string, Relation>>;

/** The relations that `populate` may name. */
export interface PopulateOptions {
  /**
   * Paths of at most 5 relations: `["author", "comments.author"]`. Their leading parts are allowed
   * too.
   */
  readonly paths: readonly string[];
}
