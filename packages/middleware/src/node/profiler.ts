import { Readable } from "node:stream";
import { getHeapSnapshot } from "node:v8";
import type { Context, Handler, Middleware } from "@fetchwork/http";
import { text } from "@fetchwork/http/responses";
import { addressGuard, type AddressGuardOptions } from "../access/address-guard.ts";
import { checkCalled, checkOptions, optionError } from "../check-options.ts";
import { encodeJSON } from "../json/encode-json.ts";
import { toJSON, variableReader } from "../observe/metric-variables.ts";
import { noCache } from "../content/no-cache.ts";
import { refuse } from "../response/plain-response.ts";
import { pathOf } from "../request/request-url.ts";
import { hideValues, runtimeFigures } from "../observe/runtime-figures.ts";
import {
  takeAllocationProfile,
  takeCPUProfile,
  takeEventLoopDelay,
  takeHeapProfile,
  takeTrace,
  type ProfileTaker,
} from "./take-profile.ts";

/** Options of {@link profiler}. */
export interface ProfilerOptions extends AddressGuardOptions {
  /** Path before `/pprof/` and `/vars`, without a slash at its end. Default: empty. */
  readonly path?: string | undefined;
  /** Longest profile in seconds, 1 to 3600. Default: 60. */
  readonly maxSeconds?: number | undefined;
  /** Your own variables in `/vars`, as for `metrics`. Default: none. */
  readonly variables?: Readonly<Record<string, () => unknown>> | undefined;
  /** Shows the values on the command line, which may be secrets. Default: `false`. */
  readonly showArguments?: boolean | undefined;
}

interface Profile {
  readonly take: ProfileTaker;
  /** Ending of a file, by which tools know the format. */
  readonly ending: string;
  readonly meaning: string;
}

const profiles: ReadonlyMap<string, Profile> = new Map([
  ["profile", { take: takeCPUProfile, ending: "cpuprofile", meaning: "processor time" }],
  [
    "heap",
    {
      take: takeHeapProfile,
      ending: "heapprofile",
      meaning: "memory that is held; ?snapshot=1 for a snapshot",
    },
  ],
  [
    "allocs",
    { take: takeAllocationProfile, ending: "heapprofile", meaning: "memory that was asked for" },
  ],
  ["trace", { take: takeTrace, ending: "trace.json", meaning: "events of Node and V8" }],
  ["block", { take: takeEventLoopDelay, ending: "json", meaning: "delay of the event loop" }],
]);

const defaultSeconds = 5;

// One for the process: two profiles at once would measure each other.
let isBusy = false;

/**
 * Responds to `GET` of `/pprof/…` and `/vars` with profiles of this process, for Chrome's DevTools
 * and other tools.
 *
 * `/pprof/` is a page that lists them; `profile`, `heap`, `allocs`, `trace` and `block` are taken
 * for `?seconds=5`, one at a time (409), and end when the client leaves; `heap?snapshot=1` is a
 * heap snapshot, which blocks the process while it is taken; `goroutine` (or `resources`) counts
 * what keeps the event loop alive; `cmdline` is the command line; `/vars` has the figures of
 * `metrics`. Nothing may be cached.
 *
 * **Without addresses every client is refused**: 403 and `{"error":"ip \"1.2.3.4\" rejected"}`.
 * Snapshots hold every secret of the process: list few addresses, and set `trustedProxies`.
 *
 * @example
 * ```ts
 * const handler = wrap(routes, profiler({ path: "/debug", addresses: ["127.0.0.1", "::1"], trustedProxies: [] }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function profiler(...rules: readonly string[]): Middleware;
export function profiler(options: ProfilerOptions): Middleware;
export function profiler(...args: readonly (string | ProfilerOptions)[]): Middleware {
  const [first] = args;
  checkCalled("profiler", first);
  const options: ProfilerOptions =
    typeof first === "object" && first !== null ? first : { addresses: args as readonly string[] };
  checkOptions("profiler", options, [
    "path",
    "maxSeconds",
    "variables",
    "showArguments",
    "addresses",
    "allowAll",
    "trustedProxies",
    "headers",
  ]);
  const { path = "", maxSeconds = 60, variables = {}, showArguments = false } = options;
  if (typeof path !== "string" || !/^(?:\/[\w.~-]+)*$/.test(path)) {
    throw optionError("path", path, "a path without a slash at its end, or nothing");
  }
  if (!Number.isInteger(maxSeconds) || maxSeconds < 1 || maxSeconds > 3600) {
    throw optionError("maxSeconds", maxSeconds, "a whole number from 1 to 3600");
  }
  const guard = addressGuard(options);
  const readVariables = variableReader(variables);
  const readFigures = runtimeFigures({ showArguments });
  const prefix = `${path}/pprof/`;

  const respond: Handler = async (request, context) => {
    const rejected = guard(request, context);
    if (rejected === "") return encodeJSON(500, { error: "can't get realip: no valid ip found" });
    if (rejected !== undefined) return encodeJSON(403, { error: `ip "${rejected}" rejected` });
    if (request.method !== "GET") return notAllowed();
    const url = new URL(request.url);
    if (!url.pathname.startsWith(prefix)) {
      const values = await readVariables(context);
      return encodeJSON(200, { ...readFigures(), ...toJSON(values) });
    }
    const name = url.pathname.slice(prefix.length);
    if (name === "") return indexPage();
    if (name === "cmdline") {
      return text((showArguments ? process.argv : hideValues(process.argv)).join("\0"));
    }
    if (name === "goroutine" || name === "resources") return activeResources();
    if (name === "heap" && url.searchParams.get("snapshot") === "1") return snapshot();
    const profile = profiles.get(name);
    if (profile === undefined) return refuse(404, "Unknown profile");
    const seconds = url.searchParams.get("seconds") ?? String(Math.min(defaultSeconds, maxSeconds));
    if (!/^\d{1,4}(?:\.\d{1,3})?$/.test(seconds) || Number(seconds) > maxSeconds) {
      return encodeJSON(400, { error: `seconds must be a number from 0 to ${maxSeconds}` });
    }
    return take(name, profile, Number(seconds), context);
  };
  const uncached = noCache()(respond);
  return (next) => (request, context) => {
    const target = pathOf(request.url);
    const isOurs = target.startsWith(prefix) || target === `${path}/vars`;
    return (isOurs ? uncached : next)(request, context);
  };
}

async function take(
  name: string,
  profile: Profile,
  seconds: number,
  context: Context,
): Promise<Response> {
  if (isBusy) return busy();
  isBusy = true;
  try {
    const result = await profile.take({ seconds, signal: context.signal });
    return text(JSON.stringify(result), { headers: fileHeaders(`${name}.${profile.ending}`) });
  } catch (error) {
    // The client has left, so nothing reads this response. 499 marks it in logs.
    if (context.signal.aborted) return refuse(499, "Client Closed Request");
    throw error;
  } finally {
    isBusy = false;
  }
}

function snapshot(): Response {
  if (isBusy) return busy();
  const body = heapSnapshot(() => {
    isBusy = false;
  });
  isBusy = true;
  return new Response(body as BodyInit, { headers: fileHeaders("heap.heapsnapshot") });
}

function activeResources(): Response {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return encodeJSON(200, Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

function indexPage(): Response {
  const items = [...profiles].map(
    ([name, { meaning }]) => `<li><a href="${name}">${name}</a>: ${meaning}</li>`,
  );
  const body = [
    "<!doctype html><meta charset=utf-8><title>pprof</title>",
    "<p>Types of profiles available (add <code>?seconds=10</code>):</p><ul>",
    ...items,
    '<li><a href="goroutine">goroutine</a>: what keeps the event loop alive</li>',
    '<li><a href="cmdline">cmdline</a>: command line</li>',
    '<li><a href="../vars">vars</a>: figures and variables</li></ul>',
  ].join("\n");
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "x-content-type-options": "nosniff",
  };
  return text(`${body}\n`, { headers });
}

function fileHeaders(filename: string): Record<string, string> {
  return {
    "content-type": "application/json; charset=utf-8",
    "content-disposition": `attachment; filename="${filename}"`,
    "x-content-type-options": "nosniff",
  };
}

function busy(): Response {
  return encodeJSON(409, { error: "another profile is being taken" });
}

function notAllowed(): Response {
  const response = refuse(405, "Method Not Allowed");
  response.headers.set("allow", "GET");
  return response;
}

/**
 * A snapshot of the heap as a stream of JSON, in the format of `.heapsnapshot` files. Making it
 * stops the process for some seconds and takes as much memory as the heap.
 *
 * @param done - Called once, when the last byte was read or the reader has gone.
 */
function heapSnapshot(done: () => void): ReadableStream<Uint8Array> {
  const snapshot = getHeapSnapshot();
  snapshot.once("close", done);
  const reader = Readable.toWeb(snapshot).getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const result: { readonly done: boolean; readonly value?: unknown } = await reader.read();
        if (result.done) controller.close();
        else controller.enqueue(toBytes(result.value));
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function toBytes(chunk: unknown): Uint8Array {
  return chunk instanceof Uint8Array ? chunk : Buffer.from(String(chunk));
}
