/** The fields that the store keeps for each document. */
export interface Meta {
  /** The id: a UUIDv7, unless the caller chose another. */
  readonly id: string;
  /**
   * 1 after the insert, and one more with each change. A document that is added with the id of a
   * removed one begins with 1 again, at another `createdAt`.
   */
  readonly version: number;
  /** The time of the insert, ISO 8601 in UTC with milliseconds. */
  readonly createdAt: string;
  /** The time of the last change, ISO 8601 in UTC with milliseconds. */
  readonly updatedAt: string;
}

/** A document as the store returns it. The object belongs to the caller, who may change it. */
export type Stored<T> = T & Meta;

/** Fields to set. A field that is `undefined` is removed, if it is optional. */
export type Change<T> = {
  readonly [K in keyof T]?: Partial<Pick<T, K>> extends Pick<T, K> ? T[K] | undefined : T[K];
};

/**
 * A document with only some of its fields: those of a literal list in the query. With a list that
 * is known only at run time it may have any.
 */
export type Projected<T, F extends readonly string[] = readonly string[]> = Pick<Meta, "id"> &
  (number extends F["length"] ? DeepPartial<Stored<T>> : Together<Part<Stored<T>, F[number]>>);

type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined }
    : T;

/** The field at a path, inside of what it is nested in; one object for each path. */
type Part<T, P extends string> = string extends keyof T
  ? P extends `${infer Head}.${infer Rest}`
    ? Partial<Nested<Head, T[Head & keyof T], Rest>>
    : { [K in P]?: T[K & keyof T] }
  : P extends keyof T
    ? Pick<T, P>
    : P extends `${infer Head}.${infer Rest}`
      ? Nested<Head, T[Head & keyof T], Rest>
      : unknown;

/** A path into a value that is not always an object is optional. */
type Nested<Name extends string, V, P extends string> = unknown extends V
  ? { [K in Name]?: unknown }
  : [V] extends [object]
    ? { [K in Name]: Part<V, P> }
    : { [K in Name]?: Part<Extract<V, object>, P> };

/** The intersection of the members of a union. */
type Together<U> = (U extends unknown ? (part: U) => void : never) extends (all: infer All) => void
  ? All
  : never;
