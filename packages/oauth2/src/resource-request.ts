import type { TargetCheck } from "./allowed-origins.ts";
import { toHeaders, type Connection } from "./connection.ts";
import { optionError, RedirectError } from "./errors.ts";
import { isRedirect } from "./form-request.ts";
import { toPairs, withQuery, type Params } from "./form.ts";
import type { ProofTarget, RequestProof } from "./proof.ts";
import { isSecretHeader } from "./redact.ts";
import { encodeBody, type BodyEncoding, type RequestBody } from "./request-body.ts";
import type { OAuth2Response, ParseOptions } from "./response.ts";
import type { SendMode } from "./send-mode.ts";

/** Options of one request to a resource. */
export interface RequestOptions extends ParseOptions {
  /** Parameters of the query, added to those of the URL. Default: none. */
  readonly params?: Params | undefined;
  /**
   * Body: text, bytes, `URLSearchParams`, `FormData`, `Blob`, or an object, which is sent as a form, or as JSON when the
   * `Content-Type` says so. Default: none.
   */
  readonly body?: RequestBody | undefined;
  /** Default: none. */
  readonly headers?: RequestInit["headers"] | undefined;
  /** Whether a status of 400 or more is thrown. Default: that of the client. */
  readonly raiseErrors?: boolean | undefined;
  /** Redirects to follow. Default: that of the client. */
  readonly maxRedirects?: number | undefined;
  /** Largest body of the answer, in bytes. Default: that of the client. */
  readonly maxResponseBytes?: number | undefined;
  /** Time for each exchange, in milliseconds. Default: that of the connection. */
  readonly timeout?: number | undefined;
  /** Aborts the request. Default: none. */
  readonly signal?: AbortSignal | null | undefined;
}

/** What {@link sendToResource} needs to know of a client. */
export interface ResourceSender {
  readonly connection: Connection;
  readonly checkTarget: TargetCheck;
  readonly maxRedirects: number;
  readonly maxResourceBytes: number;
  readonly raiseErrors: boolean;
  readonly bodyEncoding: BodyEncoding;
}

/** A token and how it is sent. */
export interface Credential {
  readonly token: string;
  readonly mode: SendMode;
  /** Value of `Authorization`. */
  readonly authorization: string;
  /** Name of the parameter, for `query` and `body`. */
  readonly paramName: string;
  readonly proof: RequestProof | undefined;
}

/** Where a request goes, and what it carries. */
export interface ResourceTarget {
  readonly verb: string;
  readonly url: URL;
  readonly credential: Credential | undefined;
}

/**
 * Sends a request to a resource, with a token if there is one, and follows redirects. Verb and body stay, but for a
 * 303. A redirect to another origin takes no credentials along: no token in any place, no header that may hold one; and
 * where it would take the body, it is an error.
 *
 * @throws OAuth2Error with a status of 400 or more, unless `raiseErrors` is false; RedirectError, ConnectionError and
 * its kin; OAuth2UsageError `ERR_OAUTH_TARGET` and `ERR_OAUTH_OPTION`
 */
export async function sendToResource(
  client: ResourceSender,
  target: ResourceTarget,
  options: RequestOptions = {},
): Promise<OAuth2Response> {
  const { maxRedirects = client.maxRedirects, raiseErrors = client.raiseErrors } = options;
  client.checkTarget(target.url);
  let hop = await firstHop(client, target, options);
  for (let count = 0; ; count += 1) {
    const response = await sendHop(client, hop, options);
    const { status } = response;
    if (!isRedirect(status) || (status !== 0 && count >= maxRedirects)) {
      if (raiseErrors && response.error !== undefined) throw response.error;
      return response;
    }
    hop = nextHop(hop, response);
    client.checkTarget(hop.url);
  }
}

interface Hop {
  readonly method: string;
  /** Without the token. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: string | Uint8Array<ArrayBuffer> | undefined;
  readonly credential: Credential | undefined;
  /** Whether a redirect led to another origin, then or before. */
  readonly isForeign: boolean;
}

async function firstHop(
  client: ResourceSender,
  { verb, url, credential }: ResourceTarget,
  options: RequestOptions,
): Promise<Hop> {
  const method = checkVerb(verb);
  const headers = toHeaders(options.headers);
  const field = credential?.mode === "body" ? credential : undefined;
  const body = await encodeBody({
    method,
    headers,
    body: options.body,
    encoding: client.bodyEncoding,
    field: field === undefined ? undefined : [field.paramName, field.token],
  });
  const pairs = toPairs(options.params ?? {});
  return { method, url: addQuery(url, pairs), headers, body, credential, isForeign: false };
}

function addQuery(url: URL, pairs: ReturnType<typeof toPairs>): URL {
  return pairs.length === 0 ? url : withQuery(url, pairs);
}

async function sendHop(
  client: ResourceSender,
  hop: Hop,
  options: RequestOptions,
): Promise<OAuth2Response> {
  const proof = hop.credential?.proof;
  const target: ProofTarget = {
    method: hop.method,
    url: hop.url,
    token: hop.credential?.token,
  };
  const response = await attempt(client, hop, options, target);
  if (proof === undefined || !proof.accept(response, target)) return response;
  const second = await attempt(client, hop, options, target);
  proof.accept(second, target);
  return second;
}

async function attempt(
  client: ResourceSender,
  hop: Hop,
  options: RequestOptions,
  target: ProofTarget,
): Promise<OAuth2Response> {
  const { credential } = hop;
  const headers = new Headers(hop.headers);
  if (credential?.mode === "header") headers.set("authorization", credential.authorization);
  if (credential?.proof !== undefined) headers.set("dpop", await credential.proof.prove(target));
  return client.connection.send({
    method: hop.method,
    url:
      credential?.mode === "query"
        ? withQuery(hop.url, [[credential.paramName, credential.token]])
        : hop.url,
    headers,
    body: hop.body,
    maxResponseBytes: options.maxResponseBytes ?? client.maxResourceBytes,
    timeout: options.timeout,
    signal: options.signal,
    secrets: credential === undefined ? undefined : [credential.token],
    isForeign: hop.isForeign,
    parse: options.parse,
    snaky: options.snaky,
    snakyHashClass: options.snakyHashClass,
  });
}

function nextHop(hop: Hop, response: OAuth2Response): Hop {
  const url = locationOf(hop, response);
  const toGet = response.status === 303 && hop.method !== "HEAD";
  const headers = new Headers(hop.headers);
  const body = toGet ? undefined : hop.body;
  if (toGet) for (const name of bodyHeaders) headers.delete(name);
  const method = toGet ? "GET" : hop.method;
  if (url.origin === hop.url.origin) {
    // In a body the token went into the first request, and is in none that has no body.
    return { ...hop, method, url, headers, body };
  }
  if (body !== undefined && body.length > 0) {
    throw new RedirectError(
      `a redirect from ${hop.url.origin} to ${url.origin} would take the body along`,
      { response },
    );
  }
  const harmless = Array.from(headers).filter(([name]) => !isSecretHeader(name));
  return {
    method,
    url,
    headers: new Headers(harmless),
    body,
    credential: undefined,
    isForeign: true,
  };
}

const bodyHeaders = ["content-type", "content-encoding", "content-language", "content-location"];

function locationOf({ url }: Hop, response: OAuth2Response): URL {
  const { status } = response;
  const location = response.headers.get("location");
  if (location === null) {
    throw new RedirectError(`HTTP ${status} without a Location`, { response });
  }
  const next = URL.canParse(location, url) ? new URL(location, url) : undefined;
  if (
    next === undefined ||
    !/^https?:$/.test(next.protocol) ||
    next.username !== "" ||
    next.password !== ""
  ) {
    throw new RedirectError(`HTTP ${status} with a Location that is no plain http or https URL`, {
      response,
    });
  }
  if (next.hash === "") next.hash = url.hash;
  return next;
}

function checkVerb(verb: string): string {
  const method = verb.toUpperCase();
  if (!/^[A-Z][A-Z\d_-]*$/.test(method) || /^(?:CONNECT|TRACE|TRACK)$/.test(method)) {
    throw optionError("the verb", verb, "a method such as get");
  }
  return method;
}
