import { describeValue, isObject } from "@fetchwork/kit";
import type { AccessRule, CallerOf } from "../access.ts";
import { checkDefinition } from "../check-options.ts";
import { check } from "../errors.ts";
import type { BodyFields, Call } from "../resource/call.ts";
import type { Resource } from "../resource/resource.ts";
import type { OperationTypes, ParametersOf, Typed } from "../route-types.ts";
import type { InputOf, JsonSchema, OutputOf, Schema } from "../schema.ts";

/** Methods of routes; HEAD and OPTIONS follow. QUERY reads by body (RFC 10008). */
export type RouteMethod = "GET" | "QUERY" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The media type of the body of a QUERY, as `Accept-Query` names it (RFC 10008 section 3). */
export const queryMediaType = "application/json";

/** One operation: what it takes, who may use it, what it does, and what it responds with. */
export interface RouteDefinition<
  Rule extends AccessRule = AccessRule,
  BodySchema extends Schema | undefined = Schema | undefined,
  ResponseSchema extends Schema | undefined = Schema | undefined,
> {
  readonly method: RouteMethod;
  /** Path with parameters as `:name`. */
  readonly path: string;
  /** Unique name of the operation, such as `createArticle`; clients are generated with it. */
  readonly operation: string;
  /** One line for the reference, in the imperative: `Publish an article`. */
  readonly summary: string;
  /** Details in addition to the summary, for the reference, in Markdown. Default: none. */
  readonly description?: string | undefined;
  /** Group in the reference. */
  readonly tag: string;
  /** Description of the group; that of the first route that has one counts. Default: none. */
  readonly tagDescription?: string | undefined;
  /** Callers that may use it. */
  readonly access: Rule;
  /** Schema of the body. Without it a body is read for its token only. */
  readonly body?: BodySchema | undefined;
  /**
   * Schema of the body of the successful response, for the reference and for the types of the
   * client. Responses are not checked against it. Default: what `responses` say, and `unknown` in
   * the client.
   */
  readonly response?: ResponseSchema | undefined;
  /** Media type of a body that is text, such as `text/csv`, with `response`. Default: JSON. */
  readonly responseType?: string | undefined;
  /** Schema of the body in the reference, where it differs from `body`, as for partial updates. */
  readonly bodyReference?: JsonSchema | undefined;
  /** Whether `If-Match` and `If-None-Match` are understood, with 412. Default: `false`. */
  readonly conditional?: boolean | undefined;
  /**
   * Whether `handle` refuses some callers of the rule `public` by itself, with 401 or 403. A
   * response is then for its caller alone. Default: `false`.
   */
  readonly checksCaller?: boolean | undefined;
  /**
   * Refuses, by throwing, unknown query parameters together with those that are wrong. Called only
   * where there are unknown ones. Default: the unknown ones are refused alone.
   */
  readonly checkQuery?: ((query: URLSearchParams) => unknown) | undefined;
  /** Query parameters in addition to `access_token`. Any other parameter is refused with 400. */
  readonly query?: readonly QueryParameter[] | undefined;
  /**
   * Whether a POST with `Idempotency-Key` runs in one transaction with the record of its response.
   * Then not even the end of the process can double its effect. Its handler then changes documents
   * through `call.store` only, and may be called again when another transaction was in its way.
   * Otherwise the key is taken before the handler runs. It falls free after five minutes if the
   * process ends before it responds. Default: `true` for the routes of resources, else `false`.
   */
  readonly atomic?: boolean | undefined;
  /**
   * Whether `handle` reads body and query itself, as they came: the route then takes any, and no
   * token in the body. Default: `false`.
   */
  readonly raw?: boolean | undefined;
  /**
   * The resource that it belongs to. Links between resources know those of all routes, such as that
   * of the users, whom documents show as their owners. Default: none.
   */
  readonly resource?: Resource | undefined;
  /** Responses by status, without the errors that access and validation give by themselves. */
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Responds to a call that the rule allows and whose input is valid. */
  handle(
    call: Call<BodySchema extends Schema ? OutputOf<BodySchema> : BodyFields, CallerOf<Rule>>,
  ): Response | Promise<Response>;
}

/** One possible response, for the OpenAPI document. */
export interface RouteResponse {
  readonly description: string;
  /** Schema of the JSON body; none for a response without a body. */
  readonly schema?: JsonSchema | undefined;
  /** Headers by name, with what they tell. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A query parameter, for the OpenAPI document: the handler reads and checks its value. */
export interface QueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonSchema;
  /** Whether the handler refuses requests without it. Default: `false`. */
  readonly required?: boolean | undefined;
}

/** Kind of an operation of a resource, as the typed client names it. */
export type ResourceAction =
  | "bulk"
  | "create"
  | "groups"
  | "list"
  | "patch"
  | "query"
  | "remove"
  | "restore"
  | "show"
  | "update";

/** A route whose types are settled, as {@link createApi} takes it. */
export interface Route<Types = unknown> extends Omit<RouteDefinition, "handle">, Typed<Types> {
  /** Action of the route on the resource that it belongs to. */
  readonly action?: ResourceAction | undefined;
  // A method and not a property, so that routes of different bodies and callers stand in one list.
  handle(call: Call<never, never>): Response | Promise<Response>;
}

/**
 * Defines a route; the types of `call.body` and `call.user` follow from its schema and its rule.
 *
 * @example
 * ```ts
 * const publish = defineRoute({
 *   method: "POST",
 *   path: "/articles/:id/publication",
 *   operation: "publishArticle",
 *   summary: "Publish an article",
 *   tag: "articles",
 *   access: "admin",
 *   responses: { 204: { description: "It is public now" } },
 *   async handle({ params, store }) {
 *     await store.collection(article.collection).update(params["id"] ?? "", { published: true });
 *     return empty();
 *   },
 * });
 * ```
 */
export function defineRoute<
  const Rule extends AccessRule,
  BodySchema extends Schema | undefined = undefined,
  ResponseSchema extends Schema | undefined = undefined,
  const Path extends string = string,
  const Operation extends string = string,
>(
  definition: RouteDefinition<Rule, BodySchema, ResponseSchema> & {
    readonly path: Path;
    readonly operation: Operation;
  },
): Route<
  OperationTypes<Operation, ParametersOf<Path>, SentTo<BodySchema>, AnsweredBy<ResponseSchema>>
> {
  checkDefinition<Route>("defineRoute", definition, [
    "method",
    "path",
    "operation",
    "summary",
    "description",
    "tag",
    "tagDescription",
    "access",
    "body",
    "response",
    "responseType",
    "bodyReference",
    "conditional",
    "checksCaller",
    "checkQuery",
    "query",
    "atomic",
    "raw",
    "resource",
    "responses",
    "handle",
    // Fields of a route that was made before, and is changed.
    "action",
    "types",
  ]);
  const { access, method, operation, query = [], response, responses, responseType } = definition;
  const isText = response !== undefined && /^[\w.+-]+\/[\w.+-]+$/.test(responseType ?? "");
  for (const [name, value, fits, expected] of [
    ["method", method, routeMethods.includes(method), `one of ${routeMethods.join(", ")}`],
    ["access", access, routeRules.includes(access), `one of ${routeRules.join(", ")}`],
    ["responseType", responseType, responseType === undefined || isText, textTypes],
    ["query", query, Array.isArray(query), "a list of { name, description, schema }"],
    ["responses", responses, isObject(responses), "an object of { description } by status"],
  ] as const) {
    check(fits, `${name} of ${operation} must be ${expected}, got ${describeValue(value)}`);
  }
  return definition;
}

const textTypes = 'a media type, such as "text/csv", of the schema response';
const routeMethods: readonly RouteMethod[] = ["GET", "QUERY", "POST", "PUT", "PATCH", "DELETE"];
const routeRules: readonly AccessRule[] = [
  "public",
  "user",
  "admin",
  "master",
  "password",
  "master+password",
];

type SentTo<S extends Schema | undefined> = S extends Schema ? InputOf<S> : undefined;
type AnsweredBy<S extends Schema | undefined> = S extends Schema ? OutputOf<S> : unknown;
