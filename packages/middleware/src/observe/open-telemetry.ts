import type { Context, Middleware } from "@fetchwork/http";
import { maskForm } from "@fetchwork/kit";
import { checkFlag, checkFunction, checkOptions, optionError } from "../check-options.ts";
import { readClientAddress } from "../address/client-address.ts";

/** The part of `@opentelemetry/api` that is used: `import * as api from "@opentelemetry/api"` has it. */
export interface OpenTelemetryApi<OtelContext = unknown, Span extends OpenTelemetrySpan = never> {
  readonly context: {
    active(): OtelContext;
    with<T>(context: OtelContext, run: () => T): T;
  };
  readonly propagation: {
    extract(
      context: OtelContext,
      carrier: Headers,
      getter: {
        keys(carrier: Headers): string[];
        get(carrier: Headers, key: string): string | undefined;
      },
    ): OtelContext;
  };
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): {
      startSpan(
        name: string,
        options: {
          readonly kind: number;
          readonly attributes: Record<string, string | number>;
        },
        context: OtelContext,
      ): Span;
    };
    setSpan(context: OtelContext, span: Span): OtelContext;
  };
}

/** The part of a span that is used. */
export interface OpenTelemetrySpan {
  setAttribute(name: string, value: string | number): unknown;
  updateName(name: string): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  recordException(error: Error): void;
  end(): void;
}

/** Options of {@link openTelemetry}. */
export interface OpenTelemetryOptions {
  /** Returns the pattern of the route, such as `/articles/:id`; called with the response. Default: none. */
  readonly route?: ((request: Request, context: Context) => string | undefined) | undefined;
  /** Whether the query is recorded, with the secrets that `maskForm` of the kit knows masked. Default: `false`. */
  readonly query?: boolean | undefined;
  /** For which requests there is a span. Default: all. */
  readonly when?: ((request: Request) => boolean) | undefined;
}

const serverKind = 1;
const errorStatus = 2;
const knownMethods: ReadonlySet<string> = new Set([
  "CONNECT",
  "DELETE",
  "GET",
  "HEAD",
  "OPTIONS",
  "PATCH",
  "POST",
  "PUT",
  "TRACE",
]);
const getter = {
  keys: (headers: Headers): string[] => [...headers.keys()],
  get: (headers: Headers, key: string): string | undefined => headers.get(key) ?? undefined,
};

/**
 * Makes an OpenTelemetry server span of every request, as a child of the one that the request names (`traceparent`),
 * and active in the handler. Attributes are those of the semantic conventions for HTTP, 1.23 and later. The span ends
 * with the body; a status of 500 and more, and a handler that throws, are its errors.
 *
 * The API is an argument, so that there is one copy of it: the one that the SDK was registered with.
 *
 * @example
 * ```ts
 * import * as api from "@opentelemetry/api";
 * const handler = wrap(routes, openTelemetry(api));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function openTelemetry<OtelContext, Span extends OpenTelemetrySpan>(
  api: OpenTelemetryApi<OtelContext, Span>,
  options: OpenTelemetryOptions = {},
): Middleware {
  checkOptions("openTelemetry", options, ["route", "query", "when"]);
  const { route = () => undefined, query = false, when = () => true } = options;
  if (typeof api !== "object" || api === null || !("trace" in api))
    throw optionError("api", api, "the module @opentelemetry/api");
  checkFunction(route, "route");
  checkFunction(when, "when");
  checkFlag(query, "query");
  return (next) => (request, context) => {
    if (!when(request)) return next(request, context);
    const method = knownMethods.has(request.method) ? request.method : "_OTHER";
    const parent = api.propagation.extract(api.context.active(), request.headers, getter);
    // Asked for each time: an SDK may be registered later than the middleware is made.
    const span = api.trace
      .getTracer("@fetchwork/middleware")
      .startSpan(
        method === "_OTHER" ? "HTTP" : method,
        { kind: serverKind, attributes: attributesOf(request, context, { method, query }) },
        parent,
      );
    context.onFinish(({ status, bytes, aborted, error }) => {
      span.setAttribute("http.response.status_code", status);
      span.setAttribute("http.response.body.size", bytes);
      const pattern = route(request, context);
      if (pattern !== undefined) {
        span.setAttribute("http.route", pattern);
        span.updateName(`${method === "_OTHER" ? "HTTP" : method} ${pattern}`);
      }
      if (error !== undefined || status >= 500) {
        const type = error instanceof Error ? error.name : String(status);
        span.setAttribute("error.type", type);
        span.setStatus({ code: errorStatus });
      } else if (aborted) {
        span.setAttribute("error.type", "aborted");
      }
      span.end();
    });
    const fail = (error: unknown): never => {
      if (error instanceof Error) span.recordException(error);
      span.setStatus({ code: errorStatus });
      throw error;
    };
    return api.context.with(api.trace.setSpan(parent, span), () => {
      try {
        const result = next(request, context);
        return result instanceof Promise ? result.catch(fail) : result;
      } catch (error) {
        return fail(error);
      }
    });
  };
}

function attributesOf(
  request: Request,
  context: Context,
  { method, query }: { readonly method: string; readonly query: boolean },
): Record<string, string | number> {
  const { protocol, hostname, port, pathname, search } = new URL(request.url);
  const scheme = protocol.slice(0, -1);
  const userAgent = request.headers.get("user-agent");
  const address = readClientAddress(request, context);
  return {
    "http.request.method": method,
    ...(method === "_OTHER" ? { "http.request.method_original": request.method } : {}),
    "url.scheme": scheme,
    "url.path": pathname,
    ...(query && search !== "" ? { "url.query": maskForm(search.slice(1)) } : {}),
    "server.address": hostname,
    "server.port": port === "" ? (scheme === "https" ? 443 : 80) : Number(port),
    ...(address === undefined ? {} : { "client.address": address }),
    ...(context.peer === undefined ? {} : { "network.peer.address": context.peer }),
    ...(userAgent === null ? {} : { "user_agent.original": userAgent }),
  };
}
