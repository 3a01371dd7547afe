/** The fields that the store keeps for each document. */
export interface Meta {
  /** The identity, a UUIDv7 unless one was given. */
  readonly id: string;
  /**
   * 1 after the insert, and one more with each change. A document that is inserted under an ID of the caller's begins above
   * every version that removed documents of its collection had, so that the versions of an ID never go back.
   */
  readonly version: number;
  /** The time of the insert, ISO 8601 in UTC with milliseconds. */
  readonly createdAt: string;
  /** The time of the last change, ISO 8601 in UTC with milliseconds. */
  readonly updatedAt: string;
}

/** A document as the store returns it: the caller's own object, free to be changed. */
export type Stored<T> = T & Meta;

/** Fields to set; one that is `undefined` is removed, which only one that may be missing can be. */
export type Change<T> = {
  readonly [K in keyof T]?: Partial<Pick<T, K>> extends Pick<T, K> ? T[K] | undefined : T[K];
};

/**
 * A document of which only some fields were asked for: those of a list that is written out in the
 * query, and any of them where the list is only known when the program runs.
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

/** What is nested in a value that may not be an object is not there when it is none. */
type Nested<Name extends string, V, P extends string> = unknown extends V
  ? { [K in Name]?: unknown }
  : [V] extends [object]
    ? { [K in Name]: Part<V, P> }
    : { [K in Name]?: Part<Extract<V, object>, P> };

/** The intersection of the members of a union. */
type Together<U> = (U extends unknown ? (part: U) => void : never) extends (all: infer All) => void
  ? All
  : never;
