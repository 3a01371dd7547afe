import type { Context, Middleware } from "@fetchwork/http";
import { empty } from "@fetchwork/http/responses";
import { canonicalizePath } from "../path/canonicalize-path.ts";
import {
  checkAmount,
  checkFlag,
  checkFunction,
  checkList,
  checkOptions,
  longestTimer,
  optionError,
} from "../check-options.ts";
import { encodeJSON } from "../json/encode-json.ts";
import { pathOf } from "../request/request-url.ts";

/** One thing that has to work for the service to work. */
export interface HealthCheck {
  /** Name in the response. */
  readonly name: string;
  /**
   * Throws or rejects when something is wrong; the message becomes part of the response, so it must
   * not contain secrets. The result does not matter. `signal` is aborted when the time is over or
   * the asker has gone.
   */
  readonly check: (signal: AbortSignal) => unknown;
  /** Milliseconds after which this check has failed. Default: that of {@link HealthOptions}. */
  readonly timeout?: number | undefined;
}

/** Options of {@link health}. */
export interface HealthOptions {
  /** The whole path, in any case. Default: `/health`. */
  readonly path?: string | undefined;
  /** Default: none; the response is then `[]` with 200. */
  readonly checks?: readonly HealthCheck[] | undefined;
  /** Runs the checks at the same time and not one after the other. Default: `false`. */
  readonly parallel?: boolean | undefined;
  /** Milliseconds after which a check has failed, `Infinity` for never. Default: `10_000`. */
  readonly timeout?: number | undefined;
}

/** The result of one check. */
export interface HealthItem {
  /** Name of the check. */
  readonly name: string;
  /** Whether it passed. */
  readonly status: "ok" | "failed";
  /** Why it failed, when there is a message. */
  readonly error?: string;
}

/**
 * Responds to `GET` and `HEAD` of one path with the results of the checks: a JSON array of {@link
 * HealthItem}, 200 when all passed, else 503. Every check runs, also after one failed. All other
 * requests go to the handler.
 *
 * Anybody may ask, as often as they like: put it behind `onlyFrom` or `throttle` when the checks
 * cost something.
 *
 * @example
 * ```ts
 * health({ checks: [{ name: "database", check: (signal) => store.ping({ signal }) }] });
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function health(options: HealthOptions = {}): Middleware {
  checkOptions("health", options, ["path", "checks", "parallel", "timeout"]);
  const { path = "/health", checks = [], parallel = false, timeout = 10_000 } = options;
  if (typeof path !== "string" || !path.startsWith("/")) {
    throw optionError("path", path, "a path that starts with a slash");
  }
  checkList(checks, "checks");
  checkFlag(parallel, "parallel");
  checkAmount(timeout, "timeout", 1);
  const prepared = checks.map((item) => prepare(item, timeout));
  const expected = path.toLowerCase();

  const respond = async (method: string, context: Context): Promise<Response> => {
    const items = parallel
      ? await Promise.all(prepared.map((item) => run(item, context.signal)))
      : await runInOrder(prepared, context.signal);
    const status = items.every((item) => item.status === "ok") ? 200 : 503;
    const response = encodeJSON(status, items);
    return method === "HEAD" ? empty(status, { headers: response.headers }) : response;
  };
  return (next) => (request, context) => {
    const { method } = request;
    if (method !== "GET" && method !== "HEAD") return next(request, context);
    const path = pathOf(request.url);
    const canonical = path.includes("%") ? canonicalizePath(path) : path;
    const isAsked = canonical?.length === expected.length && canonical.toLowerCase() === expected;
    return isAsked ? respond(method, context) : next(request, context);
  };
}

type PreparedCheck = Required<HealthCheck> & { readonly timeout: number };

function prepare(item: HealthCheck, defaultTimeout: number): PreparedCheck {
  checkOptions("a check of health", item, ["name", "check", "timeout"]);
  const { name, check, timeout = defaultTimeout } = item;
  if (typeof name !== "string" || name === "") throw optionError("name of a check", name, "a name");
  checkFunction(check, `check ${name}`);
  checkAmount(timeout, `timeout of check ${name}`, 1);
  return { name, check, timeout };
}

async function runInOrder(
  checks: readonly PreparedCheck[],
  signal: AbortSignal,
): Promise<readonly HealthItem[]> {
  const items: HealthItem[] = [];
  for (const item of checks) items.push(await run(item, signal));
  return items;
}

async function run(item: PreparedCheck, clientSignal: AbortSignal): Promise<HealthItem> {
  const { name, check, timeout } = item;
  const deadline = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const expired = new Promise<never>((_, reject) => {
      if (timeout > longestTimer) return;
      timer = setTimeout(() => {
        const error = new DOMException(`not finished after ${timeout} ms`, "TimeoutError");
        deadline.abort(error);
        reject(error);
      }, timeout);
    });
    const signal = AbortSignal.any([clientSignal, deadline.signal]);
    await Promise.race([Promise.resolve(signal).then(check), expired]);
    return { name, status: "ok" };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message === "" ? { name, status: "failed" } : { name, status: "failed", error: message };
  } finally {
    clearTimeout(timer);
  }
}
