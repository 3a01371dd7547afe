/** The fields that the store keeps for each document. */
export interface Meta {
  /** The identity, a UUIDv7 unless one was given. */
  readonly id: string;
  /** 1 after the insert, and one more with each change. */
  readonly version: number;
  /** The time of the insert, ISO 8601 in UTC with milliseconds. */
  readonly createdAt: string;
  /** The time of the last change, ISO 8601 in UTC with milliseconds. */
  readonly updatedAt: string;
}

/** A document as the store returns it: the caller's own object, free to be changed. */
export type Stored<T> = T & Meta;

/** Fields to set; a field that is `undefined` is removed. */
export type Change<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** A document of which only some fields were asked for. */
export type Projected<T> = Pick<Meta, "id"> & DeepPartial<Stored<T>>;

type DeepPartial<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined }
    : T;
