import type { AccessToken } from "./access-token.ts";
import type { ProofTarget, RequestProof } from "./proof.ts";
import {
  asksForNonce,
  createAuthorizer,
  headersFor,
  type AuthorizeOptions,
  type Authorizer,
  type TokenHeaders,
  type TokenSource,
} from "./token-source.ts";

/** A `fetch`. */
export type FetchFunction = (
  input: string | URL | Request,
  init?: RequestInit,
) => Promise<Response>;

/** Options of {@link authorizedFetch}. */
export interface AuthorizedFetchOptions extends AuthorizeOptions {
  /** What sends. Default: the `fetch` of the platform. */
  readonly fetch?: FetchFunction | undefined;
}

/**
 * Makes a `fetch` whose requests carry a token. Paths are resolved against the client's `site`; bodies and answers may be
 * streams; a status of 400 or more is not thrown. The platform drops the token when a request is redirected to another
 * origin; with mode `query` and with DPoP redirects are not followed.
 *
 * @example
 * ```ts
 * const api = authorizedFetch(new TokenManager(client, { store }));
 * const items = await (await api("/items")).json();
 * ```
 * @throws OAuth2UsageError `ERR_OAUTH_OPTION`; what it makes throws `ERR_OAUTH_TARGET`, what `getToken` of a manager
 * throws, and what `fetch` throws
 */
export function authorizedFetch(
  source: TokenSource,
  options: AuthorizedFetchOptions = {},
): FetchFunction {
  const authorizer = createAuthorizer(source, options);
  const { fetch: send = platformFetch } = options;
  return async (input, init) => {
    const url = input instanceof Request ? new URL(input.url) : authorizer.resolve(input);
    authorizer.checkTarget(url);
    const call: Call = { input, init, url, send };
    const found = authorizer.token(signalOf(call));
    const token = found instanceof Promise ? await found : found;
    const response = await sendWith(call, token);
    if (response.status !== 401 || !mayRepeat(call)) return response;
    return repeat(call, authorizer, token, response);
  };
}

/** Called without a `this`, which Workers insist on. */
const platformFetch: FetchFunction = (input, init) => globalThis.fetch(input, init);

interface Call {
  readonly input: string | URL | Request;
  readonly init: RequestInit | undefined;
  readonly url: URL;
  readonly send: FetchFunction;
}

async function repeat(
  call: Call,
  { renews }: Authorizer,
  refused: AccessToken,
  response: Response,
): Promise<Response> {
  if (renews === undefined) return response;
  let token: AccessToken;
  try {
    token = await renews.getToken({ refused, signal: signalOf(call) });
  } catch {
    // The answer says what is wrong with the request; whoever wants the other error asks the manager.
    return response;
  }
  await response.body?.cancel();
  return sendWith(call, token);
}

function sendWith(call: Call, token: AccessToken): Promise<Response> {
  const method = methodOf(call);
  const { authorization, url, proof } = headersFor(token, method, call.url);
  if (proof === undefined) return send(call, url, { authorization, dpop: undefined });
  const target: ProofTarget = { method, url: call.url, token: token.token };
  return sendWithProof(call, target, { authorization, url, proof });
}

async function sendWithProof(
  call: Call,
  target: ProofTarget,
  { authorization, url, proof }: TokenHeaders & { readonly proof: RequestProof },
): Promise<Response> {
  const dpop = await proof.prove(target);
  const response = await send(call, url, { authorization, dpop });
  if (!asksForNonce(proof, response, target) || !mayRepeat(call)) return response;
  await response.body?.cancel();
  const again = await send(call, url, { authorization, dpop: await proof.prove(target) });
  asksForNonce(proof, again, target);
  return again;
}

interface Credentials {
  readonly authorization: string | undefined;
  readonly dpop: string | undefined;
}

function send(call: Call, url: URL, { authorization, dpop }: Credentials): Promise<Response> {
  const { input, init } = call;
  const given = init?.headers ?? (input instanceof Request ? input.headers : undefined);
  const plain = given === undefined && authorization !== undefined && dpop === undefined;
  const headers = plain ? { authorization } : withCredentials(given, { authorization, dpop });
  const isBound = url !== call.url || dpop !== undefined;
  const manual = isBound && redirectOf(call) === "follow" ? { redirect: "manual" as const } : {};
  const moved = input instanceof Request && url === call.url ? input : url.href;
  if (input instanceof Request && moved !== input) {
    return call.send(new Request(url, input), { ...init, ...manual, headers });
  }
  return call.send(moved, { ...init, ...manual, headers });
}

function withCredentials(
  given: RequestInit["headers"],
  { authorization, dpop }: Credentials,
): Headers {
  const headers = new Headers(given);
  if (authorization !== undefined) headers.set("authorization", authorization);
  if (dpop !== undefined) headers.set("dpop", dpop);
  return headers;
}

function methodOf({ input, init }: Call): string {
  return (init?.method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
}

function redirectOf({ input, init }: Call): RequestRedirect {
  return init?.redirect ?? (input instanceof Request ? input.redirect : "follow");
}

function signalOf({ input, init }: Call): AbortSignal | null | undefined {
  return init?.signal ?? (input instanceof Request ? input.signal : undefined);
}

/** Whether a request can be sent twice: a stream cannot, of whatever kind, nor the body of a `Request`. */
function mayRepeat({ input, init }: Call): boolean {
  if (input instanceof Request && input.body !== null) return false;
  const body: unknown = init?.body;
  if (typeof body !== "object" || body === null) return true;
  return !(body instanceof ReadableStream) && !(Symbol.asyncIterator in body);
}
