import type { TargetCheck } from "./allowed-origins.ts";
import {
  toHeaders,
  type Connection,
  type Exchange,
  type Reply,
  type StreamedReply,
} from "./connection.ts";
import { optionError, RedirectError, TokenUnavailableError } from "./errors.ts";
import type { Fetch } from "./fetch.ts";
import { isRedirect } from "./form-request.ts";
import { toPairs, withQuery, type Params } from "./form.ts";
import { sendProven, type ProofTarget, type RequestProof } from "./proof.ts";
import { isSecretHeader, secretsOfRequest } from "./redact.ts";
import {
  encodeBody,
  isStream,
  type BodyEncoding,
  type RequestBody,
  type SentBody,
} from "./request-body.ts";
import { parseOptionNames, type OAuth2Response, type ParseOptions } from "./response.ts";
import { secretsOfBody } from "./secrets-of-body.ts";
import type { SendMode } from "./send-mode.ts";
import { checkNames, optionsOf } from "./option-names.ts";

/** Options of one request to a resource. */
export interface RequestOptions extends ParseOptions {
  /** Parameters of the query, added to those of the URL. Default: none. */
  readonly params?: Params | undefined;
  /**
   * Body: text, bytes, `URLSearchParams`, `FormData`, `Blob`, or an object. Text is sent as a form when there is no
   * `Content-Type`; an object is sent as a form, or as JSON when the `Content-Type` says so. Default: none.
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

const requestOptions = optionsOf<RequestOptions>("a request", {
  ...parseOptionNames,
  params: true,
  body: true,
  headers: true,
  raiseErrors: true,
  maxRedirects: true,
  maxResponseBytes: true,
  timeout: true,
  signal: true,
});

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
 * Sends a request to a resource, with a token if there is one, and reads the response completely.
 *
 * @throws OAuth2Error with a status of 400 or more, unless `raiseErrors` is false; what {@link follow} throws
 */
export async function sendToResource(
  client: ResourceSender,
  target: ResourceTarget,
  options: RequestOptions = {},
): Promise<OAuth2Response> {
  checkNames(options, requestOptions);
  const { raiseErrors = client.raiseErrors, maxRedirects, timeout, signal } = options;
  const { connection, maxResourceBytes } = client;
  const { maxResponseBytes = maxResourceBytes, parse, snaky, snakyHashClass } = options;
  const whole = { maxResponseBytes, parse, snaky, snakyHashClass };
  client.checkTarget(target.url);
  const { head } = await follow(client, await firstHop(client, target, options), {
    send: async (exchange) => ({ head: await connection.send({ ...exchange, ...whole }) }),
    maxRedirects,
    exchange: { timeout, signal },
  });
  if (raiseErrors && head.error !== undefined) throw head.error;
  return head;
}

/** A request whose bodies are streams, as `fetch` sends them. */
export interface StreamedRequest extends ResourceTarget {
  readonly headers: Headers;
  readonly body: SentBody | undefined;
  readonly redirect: RequestRedirect;
  /** Sends instead of the `fetch` of the client. Default: none. */
  readonly transport?: Fetch | undefined;
  /** Whether errors of what sends are thrown unchanged. Default: false. */
  readonly keepsErrors?: boolean | undefined;
  /** Time for each piece, in milliseconds. Default: that of the connection. */
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Other members of the request, such as `cache`. Default: none. */
  readonly init?: RequestInit | undefined;
}

/**
 * Sends a request to a resource, and returns the response as soon as its head is there.
 *
 * @throws TokenUnavailableError when the token has to be in the body; what {@link follow} throws
 */
export async function streamToResource(
  client: ResourceSender,
  request: StreamedRequest,
): Promise<StreamedReply> {
  const { verb, url, credential, headers, body, redirect } = request;
  if (credential?.mode === "body") {
    throw new TokenUnavailableError(
      "a token with mode body is sent by token.post and the like only",
    );
  }
  client.checkTarget(url);
  const method = checkVerb(verb);
  const secrets = secretsOfHop({ url, headers, credential }, body);
  const hop = { method, url, headers, body, credential, secrets, isForeign: false };
  const { transport, keepsErrors, timeout, signal, init } = request;
  return follow(client, hop, {
    send: (exchange) => client.connection.stream(exchange),
    redirect,
    exchange: { transport, keepsErrors, timeout, signal, init },
  });
}

interface Hop {
  readonly method: string;
  /** Without the token. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: SentBody | undefined;
  readonly credential: Credential | undefined;
  /** Finds the values of the first request that nothing may show. */
  readonly secrets: () => readonly string[];
  /** Whether a redirect led to another origin, then or before. */
  readonly isForeign: boolean;
}

/** How the requests of a chain of redirects are sent. */
interface HopSender<R extends Reply> {
  readonly send: (exchange: Exchange) => Promise<R>;
  /** Default: that of the client. */
  readonly maxRedirects?: number | undefined;
  /** Default: `follow`. */
  readonly redirect?: RequestRedirect | undefined;
  /** What all of them have in common. */
  readonly exchange: Pick<Exchange, "transport" | "keepsErrors" | "timeout" | "signal" | "init">;
}

/**
 * Sends a request and follows redirects. Verb and body stay, but for a 303. A redirect to another origin takes no
 * credentials along: no token in any place, no header that may hold one; and where it would take the body, it is an error.
 *
 * @throws RedirectError, ConnectionError and its kin; OAuth2UsageError `ERR_OAUTH_TARGET` and `ERR_OAUTH_OPTION`
 */
async function follow<R extends Reply>(
  client: ResourceSender,
  first: Hop,
  sender: HopSender<R>,
): Promise<R> {
  const { maxRedirects = client.maxRedirects, redirect = "follow" } = sender;
  let hop = first;
  for (let count = 0; ; count += 1) {
    const reply = await sendHop(hop, sender);
    const { status } = reply.head;
    const isLast = redirect === "manual" || (status !== 0 && count >= maxRedirects);
    if (!isRedirect(status) || (redirect !== "error" && isLast)) {
      // Every response of `fetch` after a redirect says so.
      if (count > 0 && reply.stream !== undefined) {
        Object.defineProperty(reply.stream, "redirected", { value: true });
      }
      return reply;
    }
    await reply.stream?.body?.cancel();
    if (redirect === "error") {
      throw new RedirectError(`HTTP ${status}, and redirect is "error"`, { response: reply.head });
    }
    hop = nextHop(hop, reply.head);
    client.checkTarget(hop.url);
  }
}

async function firstHop(
  client: ResourceSender,
  { verb, url: given, credential }: ResourceTarget,
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
  const url = pairs.length === 0 ? given : withQuery(given, pairs);
  const fields = options.body instanceof FormData ? options.body : body;
  const secrets = secretsOfHop({ url, headers, credential }, fields);
  return { method, url, headers, body, credential, secrets, isForeign: false };
}

/** The secrets of the first request; those that follow a redirect may have fewer headers, and no body. */
function secretsOfHop(
  { url, headers, credential }: Pick<Hop, "url" | "headers" | "credential">,
  body: unknown,
): () => readonly string[] {
  return () => [
    ...(credential === undefined ? [] : [credential.token]),
    ...secretsOfBody(body, headers.get("content-type")),
    ...secretsOfRequest(url.href, headers),
  ];
}

async function sendHop<R extends Reply>(hop: Hop, { send, exchange }: HopSender<R>): Promise<R> {
  const { method, url, credential, body, secrets, isForeign } = hop;
  const target: ProofTarget = { method, url, token: credential?.token };
  const inQuery = credential?.mode === "query";
  return sendProven({
    proof: credential?.proof,
    target,
    isRepeatable: !isStream(body),
    send: (dpop) => {
      const headers = new Headers(hop.headers);
      if (credential?.mode === "header") headers.set("authorization", credential.authorization);
      if (dpop !== undefined) headers.set("dpop", dpop);
      return send({
        ...exchange,
        method,
        url: inQuery ? withQuery(url, [[credential.paramName, credential.token]]) : url,
        headers,
        body,
        secrets,
        isForeign,
      });
    },
  });
}

function nextHop(hop: Hop, response: OAuth2Response): Hop {
  const url = locationOf(hop, response);
  const toGet = response.status === 303 && hop.method !== "HEAD";
  const headers = new Headers(hop.headers);
  const body = toGet ? undefined : hop.body;
  if (toGet) for (const name of bodyHeaders) headers.delete(name);
  const method = toGet ? "GET" : hop.method;
  if (isStream(body)) {
    throw new RedirectError("a redirect would send a streamed body again", { response });
  }
  if (url.origin === hop.url.origin) {
    // In a body the token went into the first request, and is in none that has no body.
    return { ...hop, method, url, headers, body };
  }
  if (body !== undefined && body !== "") {
    throw new RedirectError(
      `a redirect from ${hop.url.origin} to ${url.origin} would take the body along`,
      { response },
    );
  }
  const harmless = Array.from(headers).filter(([name]) => !isSecretHeader(name));
  return {
    ...hop,
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
