/** Somebody who sends requests to an API. */
export interface Caller {
  /** `anonymous`, `ada`, `bob`, or the name of who may do more, such as `admin`. */
  readonly name: string;
  /** What says who it is. */
  readonly headers: Readonly<Record<string, string>>;
}

export type Scalar = string | number | boolean;

/** A document with a mark in each field, as far as its fields take one. */
export interface Planted {
  readonly id: string;
  /** Name of the caller that it belongs to; `undefined` for a document of nobody. */
  readonly owner?: string | undefined;
  readonly values: Readonly<Record<string, Scalar>>;
  /** How values begin that no response may show, such as hashes of passwords. */
  readonly beginnings?: Readonly<Record<string, string>> | undefined;
  /** Whether it is kept from the public as a whole, such as a draft. */
  readonly isKept?: boolean | undefined;
}

/** What a caller is for a document: its name, or `owner` and `other user` for users. */
export type Kind = string;

/** One kind of documents of an API, and what its documentation promises about them. */
export interface Collection {
  readonly name: string;
  /** Path of the list; that of a document is `path/id`. */
  readonly path: string;
  /** Where documents are created, when it is not `path`. */
  readonly createPath?: string | undefined;
  /** Other paths that show documents, such as that of who sends the request. Default: none. */
  readonly otherPaths?: readonly string[] | undefined;
  readonly documents: readonly Planted[];
  /** Collections that documents refer to, by the field. */
  readonly relations: Readonly<Record<string, string>>;
  /**
   * Makes values to write, for each field that requests try to set; the number is another one each
   * time.
   */
  readonly attacks: Readonly<Record<string, (number: number) => unknown>>;
  /** Fields that a request that creates a document needs. */
  sample(number: number): Readonly<Record<string, unknown>>;
  /**
   * Whether a field that no response shows, such as a password, has a value; `undefined` for the
   * other fields.
   */
  holds?(id: string, field: string, value: unknown): Promise<boolean | undefined>;
  mayRead(kind: Kind, field: string, document: Planted): boolean;
  /** Whether a caller may set a field of a document that is there, or of one that it creates. */
  mayWrite(kind: Kind, field: string): boolean;
  mayCreate(caller: string): boolean;
  mayRemove(kind: Kind): boolean;
}

/** Two queries that differ in a value, or in the direction of an order. */
export interface QueryPair {
  /** `filter`, `search` or `sort`. */
  readonly way: string;
  readonly one: string;
  readonly other: string;
}

/** How the requests of an API are written. */
export interface Dialect {
  /** Queries that ask for a value of a field. */
  asks(path: string, value: Scalar, other: Scalar): readonly QueryPair[];
  /** Queries that ask how the value of a field begins. */
  beginningAsks(path: string, beginning: string, other: string): readonly QueryPair[];
  order(path: string): QueryPair;
  /** Queries that show more, such as relations and chosen fields. */
  shows(fields: readonly string[], relations: readonly string[]): readonly string[];
  hostileQueries(field: string): readonly string[];
  /** What is sent to create or change a document of a collection. */
  body(fields: Readonly<Record<string, unknown>>, collection: Collection): unknown;
  /** Identifier of the document that a response to its creation shows. */
  idOf(json: unknown): string | undefined;
  readonly updateMethod: "PATCH" | "PUT";
}

/** A running API with callers and planted documents. */
export interface Api {
  readonly url: string;
  readonly callers: readonly Caller[];
  readonly collections: readonly Collection[];
  readonly dialect: Dialect;
  /** Reads a document as who sees most of it; `undefined` when it is not there. */
  observe(
    collection: Collection,
    id: string,
  ): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Creates one more document of a caller. */
  plant(collection: Collection, owner: string): Promise<Planted>;
}

/** What a caller is for a document. */
export function kindOf({ name }: Caller, { owner }: Planted): Kind {
  if (name !== "ada" && name !== "bob") return name;
  return name === owner ? "owner" : "other user";
}

/** A peer that runs. */
export interface RunningPeer {
  readonly api: Api;
  /** Name and version of its framework. */
  readonly version: string;
  stop(): Promise<void>;
}

/** A demo application, and how it is started. */
export interface Peer {
  readonly name: string;
  /**
   * Installs it as its documentation says, starts it, and plants documents.
   *
   * @param folder - An empty one.
   */
  start(folder: string): Promise<RunningPeer>;
}
