import type { Context } from "../context.ts";
import { HeaderList } from "./header-list.ts";
import { LazyResponse } from "./fast-response.ts";
import { replaceBody } from "./replace-body.ts";
import { ownerOf, setOwner, sharedError } from "./response-owner.ts";
import { makeTextResponse } from "./response.ts";

// Functions that most middlewares need, as an entry that loads nothing else.
export { empty, json, text } from "./response.ts";

/**
 * Changes the headers of a response on its way out; use what it returns.
 *
 * Changes them in place where that is safe. It copies the response once, without touching the body,
 * when the headers are immutable (`fetch()` results, `Response.redirect()`) or when exchanges may
 * share the response: one made by {@link json}, {@link text} or {@link empty}, and one without a
 * body. A `Response.error()` becomes a 500. The response to an upgrade (status 101) is returned as
 * it is, because it cannot be copied.
 *
 * @throws HttpUsageError `ERR_HTTP_RESPONSE_SHARED` when another exchange already changed a
 * response that has a body
 */
export function changeHeaders(
  response: Response,
  context: Context,
  change: (headers: Headers) => void,
): Response {
  const owner = ownerOf(response);
  if (owner === context) {
    change(response.headers);
    return response;
  }
  if (isUpgrade(response)) return response;
  const copy = copyShared(response);
  if (copy !== undefined) {
    setOwner(copy, context);
    change(copy.headers);
    return copy;
  }
  if (owner !== undefined) throw sharedError();
  return changeOwn(response, context, change);
}

/** Does {@link changeHeaders} to a handler's result: at once, or on resolution. */
export function changeResult(
  result: Response | Promise<Response>,
  context: Context,
  change: (headers: Headers) => void,
): Response | Promise<Response> {
  return result instanceof Promise
    ? result.then((response) => changeHeaders(response, context, change))
    : changeHeaders(result, context, change);
}

/** Sets a header unless the response has it: what the handler chose wins over a middleware. */
export function setDefault(headers: Headers, name: string, value: string): void {
  if (!headers.has(name)) headers.set(name, value);
}

/** Adds field names to `Vary`, each once without regard to case; `*` absorbs all others. */
export function addVary(headers: Headers, ...names: readonly string[]): void {
  const present = headers.get("vary");
  const [name = ""] = names;
  // Nearly always: one name that is not there yet.
  if (names.length === 1 && plainName.test(name)) {
    if (present === null) {
      headers.set("vary", name);
      return;
    }
    if (plainNames.test(present) && !present.toLowerCase().includes(name.toLowerCase())) {
      headers.set("vary", `${present}, ${name}`);
      return;
    }
  }
  mergeVary(headers, present, names);
}

const plainName = /^[\w-]+$/;
const plainNames = /^[\w-]+(?:, [\w-]+)*$/;

function mergeVary(headers: Headers, present: string | null, names: readonly string[]): void {
  const merged = new Map<string, string>();
  for (const name of [
    ...(present ?? "").split(","),
    ...names.flatMap((entry) => entry.split(",")),
  ]) {
    const trimmed = name.trim();
    if (trimmed === "*") {
      if (present !== "*") headers.set("vary", "*");
      return;
    }
    const key = trimmed.toLowerCase();
    if (trimmed !== "" && !merged.has(key)) merged.set(key, trimmed);
  }
  const value = [...merged.values()].join(", ");
  if (value !== "" && value !== present) headers.set("vary", value);
}

/** Whether it is the response of an upgrade (Deno, Workers; `new Response` rejects 101). */
function isUpgrade(response: Response): boolean {
  if (response.status === 101) return true;
  return "webSocket" in response && response.webSocket != null;
}

/** Copies a response that exchanges may share; undefined for one of a single exchange. */
function copyShared(response: Response): Response | undefined {
  // Asking one of these for its body would make the platform's `Response`.
  if (LazyResponse.is(response)) return LazyResponse.copy(response);
  return response.body !== null ? undefined : copyEmpty(response);
}

function copyEmpty(response: Response): Response {
  const headers = HeaderList.from(response.headers);
  if (response.url !== "") return replaceBody(response, null, headers);
  const { status, statusText } = response;
  return makeTextResponse({ text: null, status: status === 0 ? 500 : status, statusText, headers });
}

function changeOwn(
  response: Response,
  context: Context,
  change: (headers: Headers) => void,
): Response {
  if (isMutable(response.headers)) {
    setOwner(response, context);
    change(response.headers);
    return response;
  }
  const headers = HeaderList.from(response.headers);
  const rebuilt = replaceBody(response, response.body, headers);
  setOwner(rebuilt, context);
  change(rebuilt.headers);
  return rebuilt;
}

function isMutable(headers: Headers): boolean {
  try {
    // Deleting what is not there changes nothing, and throws where the guard is "immutable" (Fetch,
    // 5.1).
    headers.delete("x-fetchwork-probe");
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
