import type { Context, Middleware } from "@fetchwork/http";
import { text } from "@fetchwork/http/responses";
import { addressGuard, type AddressGuardOptions } from "../access/address-guard.ts";
import { checkCalled, checkFunction, checkOptions, optionError } from "../check-options.ts";
import { encodeJSON } from "../json/encode-json.ts";
import { pathEndsWith } from "../path/canonicalize-path.ts";
import { toJSON, variableReader } from "./metric-variables.ts";
import { preferredType } from "./preferred-type.ts";
import { prometheusText } from "./prometheus-text.ts";
import { runtimeFigures } from "./runtime-figures.ts";

/** Options of {@link metrics} and {@link metricsAllowAll}. */
export interface MetricsOptions extends AddressGuardOptions {
  /** End of the paths, with its first slash, in any case. Default: `/metrics`. */
  readonly path?: string | undefined;
  /**
   * Format of the response; `auto` follows `Accept`, with JSON for clients that accept anything.
   * Default: `auto`.
   */
  readonly format?: "auto" | "json" | "prometheus" | "openmetrics" | undefined;
  /**
   * Your own variables: functions by name, called for every response, that return or resolve to any
   * value. Numbers, booleans and objects of them become gauges for Prometheus. One that fails is
   * left out and reported through `context.waitUntil`. Default: none.
   */
  readonly variables?: Readonly<Record<string, () => unknown>> | undefined;
  /**
   * Text in the format of Prometheus 0.0.4 that is added to responses in that format, such as `()
   * => register.metrics()` of `prom-client`. OpenMetrics is then not offered. Default: none.
   */
  readonly prometheus?: (() => string | Promise<string>) | undefined;
  /** Shows the values on the command line, which may be secrets. Default: `false`. */
  readonly showArguments?: boolean | undefined;
}

const types = {
  json: "application/json",
  openmetrics: "application/openmetrics-text",
  prometheus: "text/plain",
} as const;
const contentTypes = {
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
} as const;

/**
 * Responds to `GET` of every path that ends with `/metrics` with figures of the process: command
 * line (names of flags only), memory, heap, event loop, and your own variables; as JSON, or as text
 * for Prometheus.
 *
 * Only listed addresses get them; see {@link ipMatcher}. **Without addresses every client is
 * refused**: 403 and `{"error":"ip 1.2.3.4 rejected"}`. The address is what `realIp` around it
 * found; without it and without `trustedProxies` a client can name any.
 *
 * @example
 * ```ts
 * metrics("127.0.0.1", "10.0.0.0/8");
 * metrics({ addresses: ["10.0.0.0/8"], variables: { http: () => benchmarks.stats(60_000) } });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function metrics(...rules: readonly string[]): Middleware;
export function metrics(options: MetricsOptions): Middleware;
export function metrics(...args: readonly (string | MetricsOptions)[]): Middleware {
  const [first] = args;
  checkCalled("metrics", first);
  const options: MetricsOptions =
    typeof first === "object" && first !== null ? first : { addresses: args as readonly string[] };
  checkOptions("metrics", options, [...figureNames, "addresses", "allowAll"]);
  const { path = "/metrics", format = "auto", variables = {}, prometheus } = options;
  const { showArguments = false } = options;
  if (typeof path !== "string" || !/^\/./.test(path)) {
    throw optionError("path", path, "a path that starts with a slash");
  }
  if (format !== "auto" && !Object.hasOwn(types, format)) {
    throw optionError("format", format, "auto, json, prometheus or openmetrics");
  }
  if (prometheus !== undefined) checkFunction(prometheus, "prometheus");
  const guard = addressGuard(options);
  const readVariables = variableReader(variables);
  const read = runtimeFigures({ showArguments });
  const ending = path.toLowerCase();
  const offered = (["json", "openmetrics", "prometheus"] as const).filter(
    (one) => one !== "openmetrics" || prometheus === undefined,
  );

  const respond = async (request: Request, context: Context): Promise<Response> => {
    const values = await readVariables(context);
    const headers = new Headers({ "cache-control": "no-store" });
    if (format === "auto") headers.set("vary", "Accept");
    const chosen = format === "auto" ? choose(request, offered) : format;
    const figures = read();
    if (chosen === "json") return encodeJSON(200, { ...figures, ...toJSON(values) }, { headers });
    headers.set("content-type", contentTypes[chosen]);
    const own = prometheusText(figures, values, chosen);
    const added = chosen === "prometheus" ? await prometheus?.() : undefined;
    return text(added === undefined ? own : `${own}${added.trimEnd()}\n`, { headers });
  };

  return (next) => (request, context) => {
    if (request.method !== "GET" || !pathEndsWith(request.url, ending)) {
      return next(request, context);
    }
    const rejected = guard(request, context);
    return rejected === undefined
      ? respond(request, context)
      : encodeJSON(403, { error: `ip ${rejected} rejected` });
  };
}

/**
 * {@link metrics} for all clients. It reveals versions, memory and the names of the program's
 * flags.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function metricsAllowAll(
  options: Omit<MetricsOptions, "addresses" | "allowAll"> = {},
): Middleware {
  checkOptions("metricsAllowAll", options, figureNames);
  return metrics({ ...options, allowAll: true });
}

function choose<T extends keyof typeof types>(request: Request, offered: readonly T[]): T | "json" {
  const accept = request.headers.get("accept");
  const type = preferredType(
    accept,
    offered.map((one) => types[one]),
  );
  return offered.find((one) => types[one] === type) ?? "json";
}

const figureNames = [
  "path",
  "format",
  "variables",
  "prometheus",
  "showArguments",
  "trustedProxies",
  "headers",
] as const;
