import type { TargetCheck } from "../message/allowed-origins.ts";
import { toHeaders, type Connection, type Exchange, type StreamedResponse } from "./connection.ts";
import { optionError, TokenUnavailableError } from "../errors.ts";
import { follow, type Credential, type Hop } from "./follow-redirects.ts";
import { toPairs, withQuery, type Params } from "../message/form.ts";
import { secretsOfRequest } from "../log/redact.ts";
import {
  encodeBody,
  type BodyEncoding,
  type ResourceRequestBody,
} from "../message/request-body.ts";
import { parseOptionNames, type OAuth2Response, type ParseOptions } from "../message/response.ts";
import { secretsOfBody } from "../log/secrets-of-body.ts";
import { checkOptions } from "../check-options.ts";

/** Options of one request to a resource. */
export interface ResourceRequestOptions extends ParseOptions {
  /** Parameters of the query, added to those of the URL. Default: none. */
  readonly params?: Params | undefined;
  /**
   * Body: text, bytes, `URLSearchParams`, `FormData`, `Blob`, or an object. Text is sent as a form
   * when there is no `Content-Type`; an object is sent as a form, or as JSON if that is the
   * `Content-Type`. Default: none.
   */
  readonly body?: ResourceRequestBody | undefined;
  /** Default: none. */
  readonly headers?: RequestInit["headers"] | undefined;
  /** Whether a status of 400 or more is thrown. Default: that of the client. */
  readonly raiseErrors?: boolean | undefined;
  /** Redirects to follow. Default: that of the client. */
  readonly maxRedirects?: number | undefined;
  /** Maximum body of the response, in bytes. Default: 33_554_432. */
  readonly maxResponseBytes?: number | undefined;
  /** Aborts the request. Default: none. */
  readonly signal?: AbortSignal | null | undefined;
}

/** The part of a client that {@link sendToResource} needs. */
export interface ResourceSender {
  readonly connection: Connection;
  readonly checkTarget: TargetCheck;
  readonly maxRedirects: number;
  readonly raiseErrors: boolean;
  readonly bodyEncoding: BodyEncoding;
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
 * @throws OAuth2Error with a status of 400 or more, unless `raiseErrors` is false; what {@link
 * follow} throws
 */
export async function sendToResource(
  client: ResourceSender,
  target: ResourceTarget,
  options: ResourceRequestOptions = {},
): Promise<OAuth2Response> {
  checkOptions("a request", options, [
    ...parseOptionNames,
    "params",
    "body",
    "headers",
    "raiseErrors",
    "maxRedirects",
    "maxResponseBytes",
    "signal",
  ]);
  const { raiseErrors = client.raiseErrors, maxRedirects } = options;
  const { maxResponseBytes = 33_554_432, parse, snaky, snakyHashClass } = options;
  const whole = { maxResponseBytes, parse, snaky, snakyHashClass };
  client.checkTarget(target.url);
  const { head } = await follow(client, await firstHop(client, target, options), {
    send: async (exchange) => ({ head: await client.connection.send({ ...exchange, ...whole }) }),
    maxRedirects,
  });
  if (raiseErrors && head.error !== undefined) throw head.error;
  return head;
}

/** A request whose bodies are streams, as `fetch` sends them. */
export interface StreamedRequest
  extends ResourceTarget, Pick<Exchange, "headers" | "body" | "transport" | "signal" | "init"> {
  readonly redirect: NonNullable<RequestInit["redirect"]>;
}

/**
 * Sends a request to a resource, and returns the response as soon as its head is there.
 *
 * @throws TokenUnavailableError when the token has to be in the body; what {@link follow} throws
 */
export async function streamToResource(
  client: ResourceSender,
  request: StreamedRequest,
): Promise<StreamedResponse> {
  const { verb, url, credential, headers, body, redirect } = request;
  if (credential?.mode === "body") {
    throw new TokenUnavailableError(
      "a token with mode body is sent by token.post and the like only",
    );
  }
  client.checkTarget(url);
  const method = checkVerb(verb);
  const secrets = secretsOfHop({ url, headers, credential }, body);
  const hop = { ...request, method, secrets };
  return follow(client, hop, {
    send: (exchange) => client.connection.stream(exchange),
    redirect,
    // Like every `fetch` (Fetch standard, HTTP-redirect fetch).
    postToGet: [301, 302],
  });
}

async function firstHop(
  client: ResourceSender,
  { verb, url: given, credential }: ResourceTarget,
  options: ResourceRequestOptions,
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
  return { method, url, headers, body, credential, secrets, signal: options.signal };
}

/** The secrets of the first request; redirected ones may have fewer headers and no body. */
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

function checkVerb(verb: string): string {
  const method = verb.toUpperCase();
  if (!/^[A-Z][A-Z\d_-]*$/.test(method) || /^(?:CONNECT|TRACE|TRACK)$/.test(method)) {
    throw optionError("the verb", verb, "a method such as get");
  }
  return method;
}
