import type { Store, Stored, Transaction } from "@fetchwork/documents";
import type { Context } from "@fetchwork/http";
import type { Account } from "../account.ts";
import type { AttemptLimiter } from "../attempt-limiter.ts";
import type { Fields } from "../fields.ts";
import type { SessionTokens } from "../session-tokens.ts";
import type { ResourceGraph } from "./relations/referrers.ts";

/** Fields of a body that no schema has validated. */
export type BodyFields = Readonly<Record<string, unknown>>;

/**
 * Members of every call in addition to {@link Call}: the option `services` of `createApi`.
 * Programs add members by declaration merging (`declare module "@fetchwork/rest"`).
 */
// oxlint-disable-next-line typescript/no-empty-object-type -- programs fill it
export interface CallServices {}

/** Makes services whose changes are part of the transaction of a call, while there is one. */
export type ServicesIn = (current: () => Transaction | undefined) => CallServices;

/** A request that passed the access rule and the validation of its route. */
export interface Call<Body = unknown, User = unknown> extends CallServices {
  /** The request; its body has been read when the route has a schema for it. */
  readonly request: Request;
  /** The exchange: address, `waitUntil`, end of the response. */
  readonly context: Context;
  /** Parameters of the path by name. */
  readonly params: Readonly<Record<string, string>>;
  /** Parameters of the query. */
  readonly query: URLSearchParams;
  /** Validated body, when the route has a schema; else the fields as they came, without token. */
  readonly body: Body;
  /** Fields of the body as they came, without token or the schema's additions. Default: `body`. */
  readonly sent?: BodyFields | undefined;
  /** The caller, as its access rule established it. */
  readonly user: User;
  /** Whether the caller has shown the master key. */
  readonly isMaster: boolean;
  /** The store, or the transaction that the call belongs to. */
  readonly store: Store;
  /**
   * The transaction that the call is part of, when its changes have to happen together with others.
   * Inside one, all changes go through it, and none through `store`.
   */
  readonly transaction?: Transaction | undefined;
  /** Takes what is to be done once the transaction is committed; given where `transaction` is. */
  readonly afterCommit?: ((work: () => Promise<void>) => void) | undefined;
  /** Makes the services of the call when it becomes part of a transaction. */
  readonly servicesIn?: ServicesIn | undefined;
  /** Relations from one resource of the API to another. */
  readonly resources: ResourceGraph;
  /** Reports an error that does not become the response. */
  readonly report: (error: unknown) => void;
  /** Signs tokens. */
  readonly tokens: SessionTokens;
  /** The limiter of `createAuthentication`, which may count other attempts too. Default: none. */
  readonly attempts?: AttemptLimiter | undefined;
}

/** Call that a controller's handlers receive. */
export interface ResourceCall<Body = BodyFields> extends Call<Body, Account | undefined> {
  /** The document at the address, where the access rule needed it. */
  readonly document?: Stored<Fields> | undefined;
}

/** Handles one operation of a resource. */
export type ResourceHandler<Body = BodyFields> = (call: ResourceCall<Body>) => Promise<Response>;

/** Reads the identifier in the path. */
export function idOf({ params }: Pick<ResourceCall, "params">): string {
  return params["id"] ?? "";
}

/** Runs changes together: in the transaction that the call is part of, or in a separate one. */
export function writeTogether<R>(
  { store, transaction }: Pick<ResourceCall<unknown>, "store" | "transaction">,
  work: (transaction: Transaction) => Promise<R>,
): Promise<R> {
  return transaction ? work(transaction) : store.transaction(work);
}
