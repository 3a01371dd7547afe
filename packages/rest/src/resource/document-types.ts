import type { Meta, Stored } from "@fetchwork/documents";
import type { OutputOf, Schema } from "../schema.ts";
import type { RestrictedIn, UnseenIn } from "./field-access.ts";
import type { ComputedField, DerivedField } from "./presenter.ts";
import type { PublicUser } from "./public-user.ts";

/** Computed fields of a resource by name, of the values that `Computed` has under these names. */
export type ComputedFields<S extends Schema, Computed = Readonly<Record<string, unknown>>> = {
  readonly [Name in keyof Computed]: ComputedField<Stored<OutputOf<S>>, Computed[Name]>;
};

/** Replacements for fields that a document lacks, by name. */
export type DerivedFields<S extends Schema> = {
  readonly [Name in keyof OutputOf<S>]?: DerivedField<Stored<OutputOf<S>>, OutputOf<S>[Name]>;
};

/**
 * A document as clients see it: the shown ones of its fields, of those that are computed, and of
 * those that every document has. Fields that not everyone sees may be missing.
 */
export type ShownBy<S extends Schema, Computed, Owner extends string, Rules> = [
  RestrictedIn<Rules>,
] extends [never]
  ? Omit<Shown<S, Computed, Owner>, UnseenIn<Rules>>
  : Omit<Shown<S, Computed, Owner>, RestrictedIn<Rules> | UnseenIn<Rules>> &
      Partial<
        Pick<Shown<S, Computed, Owner>, RestrictedIn<Rules> & keyof Shown<S, Computed, Owner>>
      >;

/** Names of the fields of a schema; any name where the type of the schema does not tell them. */
export type SchemaField<S extends Schema> = [keyof OutputOf<S>] extends [never]
  ? string
  : Extract<keyof OutputOf<S>, string>;

/** Names of what the store keeps of a document: fields of the schema, and the owner. */
export type StoredField<S extends Schema, Owner extends string> =
  Exclude<Owner, "id"> | SchemaField<S>;

/** Fields that filters of lists may name, and paths that begin with a field: `address.city`. */
export type FilterPath<S extends Schema, Owner extends string, Unseen = never> =
  | PathIn<Exclude<SchemaField<S>, Unseen>>
  | Exclude<Owner, "id" | Unseen>
  | Exclude<keyof Meta, "version" | Unseen>;

/** Fields and paths that may be indexed. */
export type IndexPath<S extends Schema, Owner extends string> =
  PathIn<StoredField<S, Owner>> | Exclude<keyof Meta, "version">;

type PathIn<Field extends string> = Field | `${Field}.${string}`;

/** Names, and arrays of names for combinations. They are checked, and nothing follows from them. */
export type NamesOf<Field extends string> = readonly (NoInfer<Field> | readonly NoInfer<Field>[])[];

/**
 * A document as the store keeps it: fields of the schema, and the owner. Written out, since an
 * interface does not count as a record.
 */
export type StoredBy<S extends Schema, Owner extends string = never> = Together<
  OutputOf<S> & OwnerField<Owner>
>;

/** An owner field whose name is known only when the program runs has no type. */
type OwnerField<Owner extends string> = string extends Owner
  ? unknown
  : { readonly [Field in Exclude<Owner, "id">]?: string | undefined };

type Together<T> = { [Field in keyof T]: T[Field] };

type Shown<S extends Schema, Computed, Owner extends string> = Omit<Meta, "version"> &
  OutputOf<S> &
  Partial<Computed> &
  OwnerView<Owner>;

/** An owner field whose name is known only when the program runs has no type. */
type OwnerView<Owner extends string> = string extends Owner
  ? unknown
  : { readonly [Field in Exclude<Owner, "id">]: PublicUser | null };
