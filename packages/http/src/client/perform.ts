import type { RequestObject } from "./request/build-request-object.ts";
import { Deadline, pause } from "./deadline.ts";
import { hasHeader } from "./request/header-values.ts";
import { changedByHooks, hookRequest } from "./hooks.ts";
import { redactUrl } from "./transport/redact-url.ts";
import { isRedirect, redirected } from "./redirect.ts";
import { headerValues } from "./response/response-headers.ts";
import { ResponseHead } from "./response/rest-response.ts";
import { retryDelay, type AttemptOutcome } from "./retry.ts";
import type { SendOptions } from "./send-options.ts";
import type { CookieStore, Settings } from "./settings.ts";
import { transportRequest } from "./transport-request.ts";
import { AbortError, RedirectError } from "./transport/transport-errors.ts";
import type { TransportHead, TransportRequest } from "./transport/transport.ts";

/** A request and all that belongs to it. */
export interface Job<T extends TransportHead> {
  readonly settings: Settings;
  readonly request: RequestObject;
  readonly options: SendOptions;
  readonly maxResponseSize: number;
  /** Does one exchange. */
  readonly run: (request: TransportRequest) => Promise<T>;
  /** Discards a response that will not be read. */
  readonly discard: (response: T) => void;
  /** The first response, when there is one already. */
  readonly received?: T | undefined;
}

/** The last response of a request. */
export interface Performed<T extends TransportHead> {
  readonly response: T;
  /** The last request, whose response it is. */
  readonly request: RequestObject;
  /** Still runs, for the body of a stream; its taker disposes of it. */
  readonly deadline: Deadline | undefined;
}

/** Sends a request with hooks, cookies, log, redirects, retries and total time. */
export async function perform<T extends TransportHead>(job: Job<T>): Promise<Performed<T>> {
  const { settings, options } = job;
  const { total } = settings.timeouts;
  const deadline = total === 0 ? undefined : new Deadline(total, options.signal);
  const state: State<T> = { job, deadline, request: job.request, attempt: 1, redirects: 0 };
  try {
    const response = await run(state);
    return { response, request: state.request, deadline };
  } catch (error) {
    deadline?.dispose();
    throw await finalError(state, error);
  }
}

interface State<T extends TransportHead> {
  readonly job: Job<T>;
  readonly deadline: Deadline | undefined;
  request: RequestObject;
  attempt: number;
  redirects: number;
}

async function run<T extends TransportHead>(state: State<T>): Promise<T> {
  const { hooks } = state.job.settings;
  if (hooks !== undefined) {
    state.request = await changedByHooks(state.request, state.attempt, hooks.beforeRequest);
  }
  let received = state.job.received;
  for (;;) {
    const outcome = received === undefined ? await attempt(state) : { response: received };
    received = undefined;
    if ("response" in outcome && (await follow(state, outcome.response))) continue;
    if (await repeat(state, outcome)) continue;
    if ("error" in outcome) throw outcome.error;
    return outcome.response;
  }
}

/** One exchange; rejects only with what hooks throw. */
async function attempt<T extends TransportHead>(
  state: State<T>,
): Promise<{ readonly response: T } | { readonly error: unknown }> {
  const { job, deadline, request } = state;
  const { settings, options } = job;
  const signal = deadline?.signal ?? options.signal;
  if (signal?.aborted === true) return { error: aborted(state, signal) };
  const sent =
    settings.cookies === undefined ? request : await withCookies(request, settings.cookies);
  const exchange = transportRequest(sent, {
    timeouts: settings.timeouts.phases,
    maxResponseSize: job.maxResponseSize,
    signal,
  });
  const logged = settings.logger?.request(exchange, request.body, state.attempt);
  let response: T;
  try {
    response = await job.run(exchange);
  } catch (thrown) {
    const error = deadline?.explain(thrown, request) ?? thrown;
    logged?.error(error);
    return { error };
  }
  logged?.response(response);
  if (settings.cookies !== undefined) {
    for (const line of headerValues(response.headers, "set-cookie")) {
      await settings.cookies.setCookie(line, request.url.href, { ignoreError: true });
    }
  }
  await orDiscard(state, response, async () => {
    const hooks = settings.hooks?.afterResponse ?? [];
    for (const hook of hooks)
      await hook(new ResponseHead(response), hookRequest(request, state.attempt));
  });
  return { response };
}

/** Makes the request of a redirect; false when the response is not a redirect to follow. */
async function follow<T extends TransportHead>(state: State<T>, response: T): Promise<boolean> {
  const { job, request } = state;
  const { redirect, hooks } = job.settings;
  if (redirect === undefined || !isRedirect(response)) return false;
  job.discard(response);
  if (state.redirects >= redirect.max) {
    const { method, url } = request;
    throw new RedirectError(`more than ${redirect.max} redirects`, { method, url: redactUrl(url) });
  }
  state.redirects += 1;
  state.request = redirected(request, response, redirect);
  if (hooks !== undefined) {
    const head = new ResponseHead(response);
    state.request = await changedByHooks(
      state.request,
      state.attempt,
      hooks.beforeRedirect.map((hook) => (shown) => hook(shown, head)),
    );
  }
  return true;
}

/** Waits for the next attempt; false when there is none. */
async function repeat<T extends TransportHead>(
  state: State<T>,
  outcome: { readonly response: T } | { readonly error: unknown },
): Promise<boolean> {
  const { job, deadline, request } = state;
  const { retry, hooks } = job.settings;
  const signal = deadline?.signal ?? job.options.signal;
  if (retry === undefined || signal?.aborted === true) return false;
  // A stream is sent once.
  if (request.body instanceof ReadableStream) return false;
  const sent = {
    method: request.method,
    hasIdempotencyKey: hasHeader(request.headers, "idempotency-key"),
  };
  const wait = (): Promise<number | undefined> =>
    retryDelay(retry, sent, state.attempt, {
      response: "response" in outcome ? retryResponse(outcome.response) : undefined,
      error: errorOf(outcome),
    });
  const delay = await ("response" in outcome ? orDiscard(state, outcome.response, wait) : wait());
  // A pause that ends after the time is over would only hide what went wrong.
  if (delay === undefined || (deadline !== undefined && delay >= deadline.remaining)) return false;
  if ("response" in outcome) job.discard(outcome.response);
  state.attempt += 1;
  if (hooks !== undefined) {
    const reason = { delay, response: headOf(outcome), error: errorOf(outcome) };
    state.request = await changedByHooks(
      request,
      state.attempt,
      hooks.beforeRetry.map((hook) => (shown) => hook(shown, reason)),
    );
  }
  await pause(delay, signal, request);
  return true;
}

/** Returns the error for the caller: that of the total time, or the result of a hook. */
async function finalError<T extends TransportHead>(
  { job, deadline, request, attempt: number }: State<T>,
  thrown: unknown,
): Promise<unknown> {
  let error = deadline?.explain(thrown, request) ?? thrown;
  for (const hook of job.settings.hooks?.onError ?? []) {
    const replaced = await hook(error, hookRequest(request, number));
    if (replaced instanceof Error) error = replaced;
  }
  return error;
}

async function orDiscard<T extends TransportHead, R>(
  { job }: State<T>,
  response: T,
  action: () => Promise<R>,
): Promise<R> {
  try {
    return await action();
  } catch (error) {
    job.discard(response);
    throw error;
  }
}

async function withCookies(request: RequestObject, cookies: CookieStore): Promise<RequestObject> {
  if (hasHeader(request.headers, "cookie")) return request;
  const field = await cookies.getCookieString(request.url.href);
  if (field === "") return request;
  return { ...request, headers: [...request.headers, "cookie", field] };
}

function aborted<T extends TransportHead>(
  { request: { method, url }, deadline, request }: State<T>,
  signal: AbortSignal,
): unknown {
  const error = new AbortError({ method, url: redactUrl(url), cause: signal.reason });
  return deadline?.explain(error, request) ?? error;
}

/** How an attempt ended. */
type Outcome = { readonly response: TransportHead } | { readonly error: unknown };

function retryResponse(response: TransportHead): AttemptOutcome["response"] {
  const { status, headers } = response;
  return {
    status,
    headers: { get: (name) => headerValues(headers, name)[0] ?? null },
    toHead: () => new ResponseHead(response),
  };
}

function headOf(outcome: Outcome): ResponseHead | undefined {
  return "response" in outcome ? new ResponseHead(outcome.response) : undefined;
}

function errorOf(outcome: Outcome): unknown {
  return "error" in outcome ? outcome.error : undefined;
}
