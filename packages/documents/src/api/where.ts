import type { Stored } from "./document.ts";
import type { FieldPath, FieldValue, ListMember, ListPath } from "./field-path.ts";

/** A value that a field can be compared with. */
export type ScalarValue = boolean | number | string | null;

/**
 * A filter: all of its conditions must hold.
 *
 * A key is the path of a field, or `and`, `or` (lists of filters) or `not` (a filter). A path leads
 * through objects; for `contains` and `containsAny` it leads through lists too. An empty filter
 * matches every document; a condition that is `undefined` is rejected, so that a value that is
 * missing by mistake never selects everything.
 *
 * @example
 * ```ts
 * const where: Where<User> = { role: "admin", "address.city": { prefix: "Ber" } };
 * ```
 */
export type Where<T> = string extends keyof T
  ? UntypedWhere
  : {
      readonly [P in FieldPath<T> | ListPath<T>]?: P extends FieldPath<T>
        ? Condition<FieldValue<Stored<T>, P>>
        : MemberOperators<ScalarOf<ListMember<Stored<T>, P>>>;
    } & Combinators<Where<T>>;

/** A filter over documents whose fields are not known to the type system. */
export interface UntypedWhere {
  readonly [field: string]: Condition<unknown> | UntypedWhere | readonly UntypedWhere[] | Unset;
}

/** Without `exactOptionalPropertyTypes`, TypeScript adds fields that literals of a list lack. */
type Unset = { a: undefined } extends { a?: never } ? undefined : never;

/** Joins filters. */
export interface Combinators<W> {
  /** Every filter of the list matches; an empty list matches everything. */
  readonly and?: readonly W[];
  /** Some filter of the list matches; an empty list matches nothing. */
  readonly or?: readonly W[];
  /** The filter does not match. */
  readonly not?: W;
}

/** Condition on a field: a value, or operators that must all hold. */
export type Condition<V> = Operators<ScalarOf<V>, MemberOf<V>> | ScalarOf<V> | null;

/**
 * Operators on one field.
 *
 * Values of different JSON types are never equal, and neither is less than the other. Strings are
 * compared by Unicode code point.
 */
export interface Operators<S, M = S> {
  /** Equals; `null` also matches a missing field. */
  readonly eq?: S | null;
  /** Does not equal; also matches a missing field, unless the value is null. */
  readonly ne?: S | null;
  /** Is greater than this number or string. */
  readonly gt?: Extract<S, number | string>;
  /** Is greater than or equals this number or string. */
  readonly gte?: Extract<S, number | string>;
  /** Is less than this number or string. */
  readonly lt?: Extract<S, number | string>;
  /** Is less than or equals this number or string. */
  readonly lte?: Extract<S, number | string>;
  /** Equals one of these; at most 10,000. */
  readonly in?: readonly (S | null)[];
  /** Equals none of these; at most 10,000. */
  readonly notIn?: readonly (S | null)[];
  /** Exists, also as null (`true`), or does not (`false`). */
  readonly exists?: boolean;
  /** Is a list with this member; members that are lists or objects equal nothing. */
  readonly contains?: [M] extends [never] ? never : M | null;
  /** Is a list with a member that equals one of these; at most 10,000. */
  readonly containsAny?: [M] extends [never] ? never : readonly (M | null)[];
  /** Is a string that begins with this, case-sensitive. */
  readonly prefix?: Extract<S, string> extends never ? never : string;
}

/**
 * Operators on what a path finds in lists: `"comments.author"` finds the author of each comment,
 * and each of them where it is a list itself.
 */
export interface MemberOperators<M> {
  /** One of them equals this. */
  readonly contains?: M | null;
  /** One of them equals one of these; at most 10,000. */
  readonly containsAny?: readonly (M | null)[];
}

type MemberOf<V> = unknown extends V
  ? ScalarValue
  : V extends readonly (infer M)[]
    ? ScalarOf<NonNullable<M>>
    : never;

type ScalarOf<V> = unknown extends V ? ScalarValue : Extract<V, boolean | number | string>;
