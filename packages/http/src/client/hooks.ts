import { checkOptions } from "../check-options.ts";
import { pairsOf } from "../message/header-list.ts";
import type { EncodedBody } from "./request/encode-body.ts";
import type { RequestObject } from "./request/build-request-object.ts";
import type { ResponseHead } from "./response/rest-response.ts";
import { optionError } from "../option-values.ts";

/** A request as hooks see it; what they change of its headers is sent. */
export interface HookRequest {
  readonly method: string;
  /** Whole, with its query: mind what is logged. */
  readonly url: string;
  /** Without the cookies of the jar. Change it in place. */
  readonly headers: Headers;
  /** The encoded body; `undefined` for none. */
  readonly body: EncodedBody | undefined;
  /** 1 for the first, one more for each repetition. */
  readonly attempt: number;
}

/** Why a request is sent again. */
export interface RetryReason {
  /** Milliseconds until then. */
  readonly delay: number;
  /** The response that was no good, if there was one. */
  readonly response: ResponseHead | undefined;
  /** The failure, if there was no response. */
  readonly error: unknown;
}

/**
 * Functions around requests; each may be asynchronous, and what one throws ends the request
 * unchanged. With `extend` those of the parent run first.
 */
export interface ClientHooks {
  /** Once per request, before it is sent. Headers it sets fall under the rules for redirects. */
  readonly beforeRequest?: Hook<[request: HookRequest]> | undefined;
  /** Before a request is sent again, before the pause. */
  readonly beforeRetry?: Hook<[request: HookRequest, reason: RetryReason]> | undefined;
  /** Before a redirect is followed, with the new request. */
  readonly beforeRedirect?: Hook<[request: HookRequest, response: ResponseHead]> | undefined;
  /** After the head of each response, also of those that are redirects or repeated. */
  readonly afterResponse?: Hook<[response: ResponseHead, request: HookRequest]> | undefined;
  /** Once, when a request fails in the end; an error that it returns is thrown instead. */
  readonly onError?:
    | ((error: unknown, request: HookRequest) => unknown)
    | readonly ((error: unknown, request: HookRequest) => unknown)[]
    | undefined;
}

/** One function, or several that run one after another. */
export type Hook<Arguments extends readonly unknown[]> =
  HookFunction<Arguments> | readonly HookFunction<Arguments>[];

type HookFunction<Arguments extends readonly unknown[]> = (
  ...given: Arguments
) => void | Promise<void>;

/** The same, checked, as lists. */
export interface HookLists {
  readonly beforeRequest: readonly HookFunction<[HookRequest]>[];
  readonly beforeRetry: readonly HookFunction<[HookRequest, RetryReason]>[];
  readonly beforeRedirect: readonly HookFunction<[HookRequest, ResponseHead]>[];
  readonly afterResponse: readonly HookFunction<[ResponseHead, HookRequest]>[];
  readonly onError: readonly ((error: unknown, request: HookRequest) => unknown)[];
}

/**
 * Puts hooks after those of a parent.
 *
 * @throws HttpUsageError `ERR_HTTP_OPTION`
 */
export function hookLists(given: ClientHooks, parent: HookLists | undefined): HookLists {
  if (typeof given !== "object" || given === null) throw optionError("hooks", given, "an object");
  checkOptions<ClientHooks>("hooks", given, [
    "beforeRequest",
    "beforeRetry",
    "beforeRedirect",
    "afterResponse",
    "onError",
  ]);
  return {
    beforeRequest: joined("beforeRequest", parent?.beforeRequest, given.beforeRequest),
    beforeRetry: joined("beforeRetry", parent?.beforeRetry, given.beforeRetry),
    beforeRedirect: joined("beforeRedirect", parent?.beforeRedirect, given.beforeRedirect),
    afterResponse: joined("afterResponse", parent?.afterResponse, given.afterResponse),
    onError: joined("onError", parent?.onError, given.onError),
  };
}

function joined<F extends (...given: never[]) => unknown>(
  name: string,
  parents: readonly F[] = [],
  given: F | readonly F[] = [],
): readonly F[] {
  const own: readonly F[] = typeof given === "function" ? [given] : given;
  const isList: boolean = Array.isArray(own);
  if (!isList || own.some((hook: unknown) => typeof hook !== "function")) {
    throw optionError(`hooks.${name}`, given, "a function or a list of functions");
  }
  return [...parents, ...own];
}

/** Shows a request to hooks. */
export function hookRequest(request: RequestObject, attempt: number): HookRequest {
  const headers = new Headers();
  for (const [name, value] of pairsOf(request.headers)) headers.append(name, value);
  const { method, url, body } = request;
  return { method, url: url.href, headers, body, attempt };
}

/** Runs hooks that may change the headers of a request, and returns the request with them. */
export async function changedByHooks(
  request: RequestObject,
  attempt: number,
  hooks: readonly ((request: HookRequest) => void | Promise<void>)[],
): Promise<RequestObject> {
  if (hooks.length === 0) return request;
  const shown = hookRequest(request, attempt);
  for (const hook of hooks) await hook(shown);
  return { ...request, headers: Array.from(shown.headers).flat() };
}
