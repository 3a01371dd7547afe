import { DocumentsError, type Store } from "@fetchwork/documents";
import {
  addVary,
  changeHeaders,
  deriveRequest,
  empty,
  HttpUsageError,
  json,
  setDefault,
  type Context,
  type Handler,
} from "@fetchwork/http";
import { isExposedError } from "@fetchwork/kit";
import { Hono } from "hono";
import { scopeOf } from "../account.ts";
import { accessTokenField } from "../access-token.ts";
import { checkOptions } from "../check-options.ts";
import { checkConfigured } from "../errors.ts";
import { documentationHandlers } from "../openapi/documentation.ts";
import { areNamesUnique } from "../openapi/names-of-schemas.ts";
import { type ApiInfo, type OpenApiDocument, openApiDocument } from "../openapi/openapi.ts";
import { withoutDialog } from "../basic-challenge.ts";
import { inputProblem } from "../operations/refuse-conflicts.ts";
import { createResourceGraph } from "../plan/resource-graph.ts";
import { queryMediaType, type Route } from "../plan/route.ts";
import { unknownParameters } from "../plan/unknown-parameters.ts";
import { badFields, Problem } from "../problem.ts";
import type { BodyFields, Call, ServicesIn } from "../resource/call.ts";
import { populateName } from "../resource/list-rules.ts";
import type { ResourceGraph } from "../resource/relations/referrers.ts";
import type { Typed, TypesOfRoutes } from "../route-types.ts";
import { type JsonSchema, jsonSchemaOf, propertiesOf, validate } from "../schema.ts";
import { type Authentication, noAuthentication } from "./authentication.ts";
import { convertForm } from "./form-values.ts";
import { refuseHostileUrl } from "./hostile-text.ts";
import { callHandler } from "./idempotency/run-once.ts";
import { type Body, readBody } from "./read-body.ts";
import { requireAuthentication } from "./require-authentication.ts";
import { byPrecedence, checkRoutes } from "./route-order.ts";

/** Parts of an API. */
export interface ApiOptions<Routes extends readonly Route[] = readonly Route[]> extends ApiInfo {
  /** Routes by group: resources, accounts and routes of the program. */
  readonly routes: Routes;
  /** The store of every call. */
  readonly store: Store;
  /** Recognizes callers. Default: nobody; routes for some callers only are refused. */
  readonly authentication?: Authentication | undefined;
  /** Makes additional members of every call, others for each transaction. Default: none. */
  readonly services?: ServicesIn | undefined;
  /** Maximum bytes of a request's body. Default: `102_400`. */
  readonly maxBodySize?: number | undefined;
  /** Receives what a handler threw, other than a {@link Problem}. Default: `console.error`. */
  readonly reportError?: ((error: unknown, request: Request) => void) | undefined;
}

/** An API that can be served, tested in memory, and described. */
export interface Api<Types = unknown> extends Typed<Types> {
  /** Responds to a request; to HEAD as to GET, since whatever sends the response omits the body. */
  readonly handler: Handler;
  /** Its description, as served at `/openapi.json`; made when it is first asked for. */
  readonly openApi: OpenApiDocument;
}

/**
 * Builds an API of its routes. It also serves `/`, `/openapi.json` and the reference at `/docs`.
 *
 * @throws RestError `ERR_REST_DEFINITION` for routes that contradict each other,
 * `ERR_REST_CONFIGURATION` without the `authentication` that a route needs.
 *
 * @example
 * ```ts
 * const routes = resourceRoutes(note, createResourceController(note));
 * const api = createApi({ title: "Notes", version: "1.0.0", store, routes });
 * await serve(api.handler, { port: 9000 });
 * ```
 */
export function createApi<const Routes extends readonly Route[]>(
  options: ApiOptions<Routes>,
): Api<TypesOfRoutes<Routes>> {
  checkOptions("createApi", options, [
    "title",
    "version",
    "description",
    "routes",
    "store",
    "authentication",
    "services",
    "maxBodySize",
    "reportError",
  ]);
  const { routes, reportError = reportToConsole, maxBodySize = 102_400 } = options;
  const isSize = Number.isSafeInteger(maxBodySize) && maxBodySize >= 0;
  checkConfigured(isSize, `maxBodySize must be whole bytes from 0, got ${maxBodySize}`);
  checkRoutes(routes);
  requireAuthentication(routes, options.authentication);
  const resources = createResourceGraph(routes);
  let described: OpenApiDocument | undefined;
  const describe = (): OpenApiDocument => (described ??= openApiDocument(options, routes));
  // Many processes never show it; but what is wrong with the definitions is found here.
  if (!areNamesUnique(routes)) describe();
  const app = new Hono<{ Bindings: Context }>({ strict: false });

  const queried = new Set(routes.flatMap(({ method, path }) => (method === "QUERY" ? path : [])));
  for (const route of routes.toSorted(byPrecedence)) {
    const takesQuery = queried.has(route.path) && isRead(route);
    const respond = routeHandler(route, { ...options, maxBodySize, resources, takesQuery });
    app.on(route.method, route.path, (c) => {
      c.env.params = c.req.param();
      return respond(c.req.raw, c.env);
    });
  }
  const { title, version } = options;
  const index = { title, version, documentation: "/docs", openapi: "/openapi.json" };
  app.get("/", () => json(index));
  for (const [path, respond] of Object.entries(documentationHandlers(describe, options))) {
    app.get(path, () => respond());
  }
  app.notFound((c) => unmatched(app, c.req.method, c.req.path));
  app.onError((error, c) => {
    const problem = problemOf(error);
    if (problem.status >= 500) reportError(problem.cause ?? problem, c.req.raw);
    const response = problem.toResponse();
    return problem.status === 401 ? withoutDialog(response, c.req.raw) : response;
  });
  return {
    // Handled as GET, with its Content-Length; the server that sends it leaves out the body (RFC
    // 9110 section 9.3.2).
    handler(request, context) {
      try {
        refuseHostileUrl(request.url);
      } catch (error) {
        if (error instanceof Problem) return error.toResponse();
        throw error;
      }
      const { method } = request;
      return app.fetch(
        method === "HEAD" ? deriveRequest(request, { method: "GET" }) : request,
        context,
      );
    },
    get openApi() {
      return describe();
    },
  };
}

/** Stands for a body that the route reads itself. */
const noBody: Body = { fields: {}, isForm: false };

type Respond = (request: Request, context: Context) => Promise<Response>;

/** Prepares everything about a route that no request changes. */
function routeHandler(
  route: Route,
  {
    store,
    authentication = noAuthentication,
    maxBodySize,
    reportError = reportToConsole,
    resources,
    services,
    takesQuery,
  }: ApiOptions & {
    readonly maxBodySize: number;
    readonly resources: ResourceGraph;
    readonly takesQuery: boolean;
  },
): Respond {
  const { attempts, tokens } = authentication;
  const alone = services?.(() => undefined);
  const handle = callHandler(route);
  const scope = scopeOf(route.path, isRead(route) ? "read" : "write");
  const properties = bodyProperties(route);
  const isForAll = route.access === "public" && route.checksCaller !== true;
  const needsScope = !isForAll && !isRead(route);
  const showsOwners = route.resource?.shownOwner !== undefined && resources.users !== undefined;
  const differs = route.resource?.views.differ === true || showsOwners;
  const populates = (route.resource?.relations.paths.length ?? 0) > 0;

  return async (request, context) => {
    const query = queryOf(request.url);
    const reading = route.raw === true ? noBody : readBody(request, maxBodySize);
    const body = reading instanceof Promise ? await reading : reading;
    const { [accessTokenField]: bodyToken, ...fields } = body.fields;
    const values = body.isForm ? convertForm(fields, properties) : fields;
    const queryTokens = query.getAll(accessTokenField);
    const authorization = request.headers.get("authorization");
    const credentials = {
      authorization,
      queryTokens,
      bodyToken,
      address: context.ip,
      scope,
      needsScope,
      request,
    };
    const authenticated = authentication.authenticate(route.access, credentials);
    const user = authenticated && (await authenticated);
    const accepted = route.raw === true ? values : accept(route, query, values);
    // Programs have declared members of it, which `services` has.
    const call = {
      ...alone,
      servicesIn: services,
      request,
      context,
      params: context.params,
      query,
      body: accepted instanceof Promise ? await accepted : accepted,
      sent: values,
      user,
      isMaster: authentication.isMaster(credentials),
      store,
      tokens,
      attempts,
      resources,
      report: (error: unknown) => reportError(error, request),
    } as Call;
    const handling = handle(call, values);
    const handled = handling instanceof Promise ? await handling : handling;
    if (!(handled instanceof Response)) throw notAResponse(route, handled);
    const response = takesQuery ? announceQuery(handled, context) : handled;
    const isPersonal = !isForAll || user !== undefined || call.isMaster;
    if (isPersonal) return keepPrivate(response, context, queryTokens.length > 0);
    return differs ||
      (populates && (query.has(populateName) || Object.hasOwn(values, populateName)))
      ? changeHeaders(response, context, (headers) => addVary(headers, "Authorization"))
      : response;
  };
}

/** Programs without types return other values; the value may be secret. */
function notAResponse({ operation }: Route, returned: unknown): HttpUsageError {
  const message = `the handler of ${operation} must return a Response, got ${typeof returned}`;
  return new HttpUsageError("ERR_HTTP_RESPONSE", message);
}

function isRead({ method }: Route): boolean {
  return method === "GET" || method === "QUERY";
}

/** Says in the responses of a path that has it how QUERY is sent (RFC 10008 section 3). */
function announceQuery(response: Response, context: Context): Response {
  return changeHeaders(response, context, (headers) => {
    setDefault(headers, "accept-query", queryMediaType);
  });
}

/** Checks parameters and body; what a schema accepts is what the handler gets. */
function accept(route: Route, query: URLSearchParams, values: BodyFields): unknown {
  refuseUnknown(query, route);
  return route.body ? validate(route.body, values) : values;
}

/** Keeps what one caller sees out of shared caches; out of all with a URL token (RFC 6750, 2.3). */
function keepPrivate(response: Response, context: Context, isTokenInUrl: boolean): Response {
  return changeHeaders(response, context, (headers) => {
    setDefault(headers, "cache-control", isTokenInUrl ? "no-store" : "private, no-cache");
    addVary(headers, "Authorization");
  });
}

function bodyProperties(route: Route): Readonly<Record<string, JsonSchema>> {
  const described = route.bodyReference ?? (route.body && jsonSchemaOf(route.body, "input"));
  return described ? propertiesOf(described, `the body of ${route.operation}`) : {};
}

function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf("?");
  return new URLSearchParams(mark < 0 ? undefined : url.slice(mark));
}

function refuseUnknown(query: URLSearchParams, route: Route): void {
  if (query.size === 0) return;
  const unknown = [...query.keys()].filter(
    (name) => name !== accessTokenField && !route.query?.some((known) => known.name === name),
  );
  if (unknown.length === 0) return;
  route.checkQuery?.(query);
  throw badFields(unknownParameters(unknown));
}

/**
 * The response to an error of a handler: what it says itself, if it may. The error of an upstream
 * client has a status too, which is not one of ours.
 */
function problemOf(error: Error): Problem {
  if (error instanceof Problem) return error;
  if (isExposedError(error)) {
    return new Problem(error.status, { detail: error.message, cause: error });
  }
  return inputProblem(error) ?? failureOf(error);
}

/** Faults of the store that may pass: nothing was changed, or nobody knows whether. */
const passing: ReadonlySet<string | undefined> = new Set([
  "ERR_DOCUMENTS_BUSY",
  "ERR_DOCUMENTS_CONNECTION",
  "ERR_DOCUMENTS_TIMEOUT",
]);

/** Makes the problem of a failure: 503 where the store is busy or unreachable for a while. */
function failureOf(error: Error): Problem {
  const code = error instanceof DocumentsError ? error.code : undefined;
  if (code === "ERR_DOCUMENTS_FULL") {
    return new Problem(507, { detail: "there is no room for the documents", cause: error });
  }
  if (!passing.has(code)) return new Problem(500, { cause: error });
  const headers = { "retry-after": "5" };
  return new Problem(503, { detail: "the documents cannot be reached now", headers, cause: error });
}

/** No route for this method and path: 404, or 405 when the path has other methods. */
function unmatched(app: Hono<{ Bindings: Context }>, method: string, path: string): Response {
  const allowed = ["GET", "QUERY", "POST", "PUT", "PATCH", "DELETE"].filter(
    (other) => app.router.match(other, path)[0].length > 0,
  );
  if (allowed.length === 0)
    return new Problem(404, { detail: "nothing is at this path" }).toResponse();
  if (allowed.includes("GET")) allowed.splice(1, 0, "HEAD");
  const headers = {
    allow: [...allowed, "OPTIONS"].join(", "),
    ...(allowed.includes("QUERY") ? { "accept-query": queryMediaType } : {}),
  };
  if (method === "OPTIONS") return empty(204, { headers });
  return new Problem(405, {
    detail: `${method} is not possible at this path`,
    headers,
  }).toResponse();
}

function reportToConsole(error: unknown): void {
  console.error(error);
}
