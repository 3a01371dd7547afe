import { changeHeaders, createContextKey, type Context, type Middleware } from "@fetchwork/http";
import { checkFlag, checkFunction, checkOptions, optionError } from "../check-options.ts";
import type { RequestCondition } from "../compose/maybe.ts";

/** Options of {@link serverTiming}. */
export interface ServerTimingOptions {
  /** Whether to add the time until the head as `total`. Default: `true`. */
  readonly total?: boolean | undefined;
  /**
   * For which requests the header is sent. Times can reveal whether something was found, cached or
   * hashed; send them to those who may know. Default: all.
   */
  readonly when?: RequestCondition | undefined;
}

/** One measurement (Server Timing, 3). */
interface ServerTiming {
  /** In milliseconds. Default: none. */
  readonly duration?: number | undefined;
  /** For people. Default: none. */
  readonly description?: string | undefined;
}

const timingsKey = createContextKey<string[]>("server timing");
const tokenPattern = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;

/**
 * Sends a `Server-Timing` header, which browsers show with the request: the time until the head,
 * and what {@link addServerTiming} and {@link startServerTiming} measured. It is added to one that
 * the handler sends.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function serverTiming(options: ServerTimingOptions = {}): Middleware {
  checkOptions("serverTiming", options, ["total", "when"]);
  const { total = true, when = () => true } = options;
  checkFlag(total, "total");
  checkFunction(when, "when");
  return (next) => (request, context) => {
    const timings: string[] = [];
    const start = performance.now();
    const append = (response: Response): Response => {
      if (total) timings.push(write("total", { duration: performance.now() - start }));
      if (timings.length === 0) return response;
      return changeHeaders(response, context, (headers) =>
        headers.append("server-timing", timings.join(", ")),
      );
    };
    const run = (isSent: boolean): Response | Promise<Response> => {
      if (!isSent) return next(request, context);
      context.set(timingsKey, timings);
      const result = next(request, context);
      return result instanceof Promise ? result.then(append) : append(result);
    };
    const isSent = when(request, context);
    return isSent instanceof Promise ? isSent.then(run) : run(isSent);
  };
}

/**
 * Adds a measurement to the `Server-Timing` of this exchange. Does nothing without {@link
 * serverTiming} around, and after the head.
 *
 * @param name - Letters, digits and a few signs: a token of HTTP.
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the name is not a token, or the duration not
 * a number
 */
export function addServerTiming(context: Context, name: string, timing: ServerTiming = {}): void {
  const entry = write(name, timing);
  context.get(timingsKey)?.push(entry);
}

/**
 * Starts a measurement; the function that it returns ends it.
 *
 * @example
 * ```ts
 * const end = startServerTiming(context, "db");
 * const rows = await query();
 * end();
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION` when the name is not a token
 */
export function startServerTiming(
  context: Context,
  name: string,
  description?: string,
): () => void {
  write(name, {});
  const start = performance.now();
  return () => addServerTiming(context, name, { duration: performance.now() - start, description });
}

function write(name: string, timing: ServerTiming): string {
  checkOptions("a server timing", timing, ["duration", "description"]);
  const { duration, description } = timing;
  if (!tokenPattern.test(name)) throw optionError("name", name, "a token");
  if (duration !== undefined && !Number.isFinite(duration))
    throw optionError("duration", duration, "a number of milliseconds");
  const text = description === undefined ? "" : `;desc="${quote(description)}"`;
  const time = duration === undefined ? "" : `;dur=${Math.round(duration * 1000) / 1000}`;
  return name + text + time;
}

/** Text of a quoted string (RFC 9110, 5.6.4); what cannot be sent becomes a question mark. */
function quote(text: string): string {
  return text.replace(/[^\x20-\x7e]/gu, "?").replace(/["\\]/g, String.raw`\$&`);
}
