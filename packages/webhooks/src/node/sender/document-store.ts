import type { DeliveryRecord, EndpointRecord, EventRecord } from "./records.ts";

/** A collection's name and indexes; `defineCollection` of `@fetchwork/documents` makes the same. */
export interface SenderCollection<T> {
  readonly name: string;
  readonly unique: readonly (readonly string[])[];
  readonly indexes: readonly (readonly string[])[];
  readonly search: readonly string[];
  /** Never set: carries the type of the documents. */
  readonly document?: T | undefined;
}

/** What a store adds to a document. */
export interface SenderDocument {
  readonly id: string;
  /** One more with each change. */
  readonly version: number;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
}

/** Conditions by field; all must hold. */
export type SenderFilter = Readonly<Record<string, SenderCondition>>;

/** A value to equal, or comparisons of strings in the order of code points. */
export type SenderCondition =
  | string
  | {
      readonly gte?: string;
      readonly lte?: string;
      readonly lt?: string;
      readonly in?: readonly string[];
      readonly notIn?: readonly string[];
    };

/** Which documents, in which order. */
export interface SenderQuery<T> {
  readonly where?: SenderFilter | undefined;
  /** Fields; `-` before one for descending. */
  readonly sort?: readonly (SortField<T> | `-${SortField<T>}`)[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

type SortField<T> = "createdAt" | (keyof T & string);

/** Documents of one kind. Each promise of a change resolves when the change is durable. */
export interface SenderDocuments<T> {
  /** Without an `id`, the store makes one; later ones come after earlier ones. */
  insert(document: T, options?: { readonly id: string }): Promise<T & SenderDocument>;
  insertMany(documents: readonly T[]): Promise<readonly (T & SenderDocument)[]>;
  get(id: string): Promise<(T & SenderDocument) | undefined>;
  find(
    query: SenderQuery<T> & { readonly fields?: undefined },
  ): Promise<readonly (T & SenderDocument)[]>;
  /** With `fields`, documents have these and their `id` only. */
  find(
    query: SenderQuery<T> & { readonly fields: readonly (keyof T & string)[] },
  ): Promise<readonly (Partial<T> & Pick<SenderDocument, "id">)[]>;
  count(selection: { readonly where: SenderFilter }): Promise<number>;
  /**
   * Sets fields, and removes those that are `undefined`. With `ifVersion`, rejects with an error whose `code` ends in
   * `_VERSION` when the document changed in between.
   */
  update(
    id: string,
    change: { readonly [K in keyof T]?: T[K] | undefined },
    options?: { readonly ifVersion?: number | undefined },
  ): Promise<(T & SenderDocument) | undefined>;
  /** Takes `ifVersion` as `update` does. */
  remove(id: string, options?: { readonly ifVersion?: number | undefined }): Promise<boolean>;
  removeMany(selection: { readonly where: SenderFilter }): Promise<number>;
}

/** A store as a transaction sees it. */
export interface SenderTransaction {
  collection(definition: SenderCollection<EndpointRecord>): SenderDocuments<EndpointRecord>;
  collection(definition: SenderCollection<EventRecord>): SenderDocuments<EventRecord>;
  collection(definition: SenderCollection<DeliveryRecord>): SenderDocuments<DeliveryRecord>;
}

/** Where a sender keeps events, deliveries and endpoints: a store of `@fetchwork/documents`, or one of its shape. */
export interface SenderStore extends SenderTransaction {
  transaction<R>(work: (transaction: SenderTransaction) => Promise<R>): Promise<R>;
}
