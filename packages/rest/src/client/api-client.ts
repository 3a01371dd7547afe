import type { SendOptions } from "@fetchwork/http";
import type { OperationTypes, ResourceTypes, Typed, TypesOfRoutes } from "../route-types.ts";
import type { Group, GroupParameters } from "./group-parameters.ts";
import type { ListParameters, ParameterValues, QueryParameters } from "./list-parameters.ts";
import type { CheckedPopulate, Populated } from "./populated.ts";
import type { PageResult, QueryResult, Result } from "./result.ts";

/** Options of one call. */
export interface CallOptions extends Pick<SendOptions, "retry" | "signal" | "timeout"> {
  /** Changes only a document with this tag; else {@link ProblemError} 412. Default: any. */
  readonly ifMatch?: string | undefined;
  /** Entity tag of the caller; the same one returns 304, no data. Default: none. */
  readonly ifNoneMatch?: string | undefined;
  /** Makes a repeated POST one effect, such as `crypto.randomUUID()`. Default: none. */
  readonly idempotencyKey?: string | undefined;
  /** More parameters of the query, such as a list's own. Default: none. */
  readonly query?: ParameterValues | undefined;
  /** More headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

type FoundBy<Query, D, Related> = Query extends {
  readonly fields: string | readonly string[];
}
  ? Partial<PopulatedBy<Query, D, Related>>
  : PopulatedBy<Query, D, Related>;

type PopulatedBy<Query, D, Related> = Query extends { readonly populate: infer Paths }
  ? Paths extends string | readonly string[]
    ? Populated<
        D,
        Paths extends readonly string[] ? Paths[number] : Extract<Paths, string>,
        Related
      >
    : D
  : D;

/** Parameters of `show`. */
export interface ShowParameters<D = Readonly<Record<string, unknown>>> {
  /** Fields to show, or with `-` to leave out. */
  readonly fields?: ListParameters<D>["fields"];
  /** Paths of relations whose documents are put in the place of their identifiers. */
  readonly populate?: string | readonly string[] | undefined;
  /** The token, where it is not given otherwise. */
  readonly access_token?: string | undefined;
}

type ShowOptions = Omit<CallOptions, "query"> & {
  readonly query?: Omit<ShowParameters, "fields" | "populate"> | undefined;
};

/** One item of a bulk call. `version` is that of the document, the number in its entity tag. */
export type BulkOperation<Input> =
  | { readonly op: "create"; readonly body: Input }
  | {
      readonly op: "patch" | "update";
      readonly id: string;
      readonly version?: number | undefined;
      readonly body: Changes<Input>;
    }
  | { readonly op: "remove"; readonly id: string; readonly version?: number | undefined };

/** Result of one item of a bulk call. */
export interface BulkResult<D> {
  /** 201 for a created document, 200 for a changed one, 204 for a removed one. */
  readonly status: number;
  readonly id: string;
  /** Version of the document; none for a removed one. */
  readonly version?: number | undefined;
  /** The document; none for a removed one. */
  readonly body?: D | undefined;
}

/** Any of the fields, and `null` for none. */
export type Changes<Input> = { readonly [K in keyof Input]?: Input[K] | null | undefined };

/** Checks of a query in addition to `Allowed`: paths begin with relations, known names only. */
type Checked<Query, Related, Allowed> = CheckedPopulate<Query, Related> & Only<Query, Allowed>;

type Only<Given, Allowed> = {
  readonly [Name in keyof Given]: Name extends keyof Allowed
    ? Name extends "not" | "where"
      ? Only<Given[Name], NonNullable<Allowed[Name]>>
      : Given[Name]
    : never;
};

type NextQuery<Query> = Omit<Query, "after" | "page"> &
  Pick<QueryParameters<unknown>, "after" | "page">;

/** The operations of a resource. */
export interface ResourceClient<D, Input, Related = unknown, Lists = unknown> {
  /** One page of the documents. */
  list<const Query extends ListParameters<D, Lists>>(
    query?: Query & Checked<Query, Related, ListParameters<D, Lists>>,
    options?: CallOptions,
  ): Promise<PageResult<FoundBy<Query, D, Related>>>;
  /**
   * One page of the documents by QUERY (RFC 10008). It is for filters that are too long for a URL,
   * or that no log may have. The parameters go in the body; single fields are filtered by `where`
   * alone.
   */
  query<const Query extends QueryParameters<D, Lists>>(
    query?: Query & Checked<Query, Related, QueryParameters<D, Lists>>,
    options?: CallOptions,
  ): Promise<QueryResult<FoundBy<Query, D, Related>, NextQuery<Query>>>;
  /** All pages, each when it is asked for: `for await (const page of …)`. */
  pages<const Query extends ListParameters<D, Lists>>(
    query?: Query & Checked<Query, Related, ListParameters<D, Lists>>,
    options?: CallOptions,
  ): AsyncGenerator<PageResult<FoundBy<Query, D, Related>>, void, undefined>;
  /** Counts and sums of the documents by group, for a resource that declares `groups`. */
  groups<const Query extends GroupParameters<D>>(
    query?: Query,
    options?: CallOptions,
  ): Promise<PageResult<Group<D, Query>>>;
  /** One document, with all its fields or those that `fields` names; none with a 304. */
  show<const Query extends ShowParameters<D>>(
    id: string,
    options: Omit<CallOptions, "query"> & {
      readonly ifNoneMatch: string;
      readonly query?: (Query & Checked<Query, Related, ShowParameters<D>>) | undefined;
    },
  ): Promise<Result<FoundBy<Query, D, Related> | undefined>>;
  show<const Query extends ShowParameters<D>>(
    id: string,
    options: Omit<CallOptions, "query"> & {
      readonly query: Query & Checked<Query, Related, ShowParameters<D>>;
    },
  ): Promise<Result<FoundBy<Query, D, Related>>>;
  show(id: string, options?: ShowOptions): Promise<Result<D>>;
  create(body: Input, options?: CallOptions): Promise<Result<D>>;
  /** Changes the given fields and keeps the others. */
  update(id: string, body: Changes<Input>, options?: CallOptions): Promise<Result<D>>;
  /** Applies a JSON Merge Patch (RFC 7396): `null` removes a field. */
  patch(id: string, body: Changes<Input>, options?: CallOptions): Promise<Result<D>>;
  remove(id: string, options?: CallOptions): Promise<Result<undefined>>;
  /** Brings a removed document back, for a resource that keeps them. */
  restore(id: string, options?: CallOptions): Promise<Result<D>>;
  /** All of it or nothing, for a resource that declares `bulk`. */
  bulk(
    operations: readonly BulkOperation<Input>[],
    options?: CallOptions,
  ): Promise<Result<readonly BulkResult<D>[]>>;
}

/** Input of a call of a custom route. */
export type OperationInput<Parameter extends string, Body> = ([Parameter] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: Readonly<Record<Parameter, string>> }) &
  (undefined extends Body ? { readonly body?: Body } : { readonly body: Body });

/** Calls a route that `defineRoute` made. */
export type OperationCall<Parameter extends string, Body, Data> = [Parameter, undefined] extends [
  never,
  Body,
]
  ? (input?: OperationInput<Parameter, Body>, options?: CallOptions) => Promise<Result<Data>>
  : (input: OperationInput<Parameter, Body>, options?: CallOptions) => Promise<Result<Data>>;

/** Types of the routes of an API, or of a list of routes. */
export type TypesOf<Api> = Api extends readonly unknown[]
  ? TypesOfRoutes<Api>
  : Api extends Typed<infer Types>
    ? Types
    : never;

type ResourcesIn<Types> = Extract<Types, ResourceTypes>;
type OperationsIn<Types> = Extract<Types, OperationTypes<string, never> | OperationTypes>;

/** Methods of a client for the handlers that a controller has. */
type MethodsOf<Operations extends string> = string extends Operations
  ? keyof ResourceClient<unknown, unknown>
  : | Extract<Operations, keyof ResourceClient<unknown, unknown>>
    | ("list" extends Operations ? "groups" | "pages" | "query" : never)
    | ("create" | "patch" | "remove" | "update" extends Operations ? "bulk" : never);

/**
 * The client of an API, or of a list of routes: each resource by the last part of its path in camel
 * case, and each other route by its operation.
 */
export type ApiClient<Api> = {
  readonly [R in ResourcesIn<TypesOf<Api>> as R["resource"]]: Pick<
    ResourceClient<R["document"], R["input"], R["related"], R["lists"]>,
    MethodsOf<R["operations"]>
  >;
} & {
  readonly [O in OperationsIn<TypesOf<Api>> as O["operation"]]: OperationCall<
    O["parameter"],
    O["body"],
    O["response"]
  >;
} & AsyncDisposable;
