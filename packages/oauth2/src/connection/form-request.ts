import type { ClientAuthenticator } from "../credentials/client-authentication.ts";
import { toHeaders, type Connection, type Received } from "./connection.ts";
import { OAuth2RedirectError } from "../errors.ts";
import { encodePairs, toPairs, withScopeAsText, type Pair, type Params } from "../message/form.ts";
import { sendProven, type ProofTarget, type RequestProof } from "./proof.ts";
import type { OAuth2Response, ParseOptions } from "../message/response.ts";
import { secretsOfBody } from "../log/secrets-of-body.ts";

/** How the parameters of a token request are sent. */
export type TokenMethod = "post" | "get" | "post_with_query_string";

/** The part of a client that {@link sendForm} needs; an `OAuth2Client` is one. */
export interface FormSender {
  readonly connection: Connection;
  /** Adds the credentials of the client. */
  readonly authenticate: ClientAuthenticator;
  /** The authorization server, when it is known. */
  readonly issuer: string | undefined;
  /** Maximum response of an endpoint, in bytes. */
  readonly maxResponseBytes: number;
  /** Proof of possession that every request carries. */
  readonly proof: RequestProof | undefined;
  /** Secret of the client, which nothing is to show. */
  readonly secret?: string | null | undefined;
}

/** One request to an endpoint of the authorization server. */
export interface FormRequest extends ParseOptions {
  /** Parameters by their wire names. */
  readonly params: Params;
  /** Further headers; `Content-Type: application/json` makes the body JSON. */
  readonly headers?: RequestInit["headers"] | undefined;
  /** Default: `post`. */
  readonly method?: TokenMethod | undefined;
  /** Access token that stands for the credentials of the client. Default: none. */
  readonly token?: string | undefined;
  /** Proof of possession instead of that of the client; `null` for none. */
  readonly proof?: RequestProof | null | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * Sends a form to an endpoint of the authorization server: token, revocation, introspection, device
 * authorization, pushed authorization, user information. Redirects are never followed, since the
 * request carries credentials; the response is returned whatever its status.
 *
 * @throws OAuth2RedirectError when the endpoint redirects; OAuth2ConnectionError,
 * OAuth2TimeoutError and InvalidResponseError as {@link Connection.send}
 */
export async function sendForm(
  client: FormSender,
  endpoint: URL,
  request: FormRequest,
): Promise<OAuth2Response> {
  const proof = request.proof === undefined ? client.proof : (request.proof ?? undefined);
  const method = request.method === "get" ? "GET" : "POST";
  const target: ProofTarget = { method, url: endpoint, token: request.token };
  const send = async (dpop: string | undefined): Promise<Received> => ({
    head: await attempt(client, target, request, dpop),
  });
  const { head: response } = await sendProven({ proof, target, send });
  if (isRedirect(response.status)) {
    throw new OAuth2RedirectError(
      `the endpoint at ${endpoint.origin} redirects (HTTP ${response.status}), which is not followed`,
      { response },
    );
  }
  return response;
}

async function attempt(
  client: FormSender,
  target: ProofTarget,
  request: FormRequest,
  dpop: string | undefined,
): Promise<OAuth2Response> {
  const { method = "post", token } = request;
  const params = withScopeAsText(request.params);
  const headers = toHeaders(request.headers);
  if (!headers.has("accept")) headers.set("accept", "application/json");
  const body = new URLSearchParams();
  for (const [name, value] of toPairs(params)) body.append(name, value);
  if (token === undefined) {
    const endpoint = target.url;
    const done = client.authenticate({ body, headers, endpoint, issuer: client.issuer });
    if (done !== undefined) await done;
  } else headers.set("authorization", `${dpop === undefined ? "Bearer" : "DPoP"} ${token}`);
  if (dpop !== undefined) headers.set("dpop", dpop);

  const inQuery = method !== "post";
  return client.connection.send({
    method: target.method,
    url: inQuery ? extendQuery(target.url, body) : target.url,
    headers,
    body: inQuery ? emptyBody(headers, target.method) : formBody(headers, body, params),
    maxResponseBytes: client.maxResponseBytes,
    signal: request.signal,
    secrets: () => [...secretsOfBody(body, null), ...(client.secret ? [client.secret] : [])],
    parse: request.parse,
    snaky: request.snaky,
    snakyHashClass: request.snakyHashClass,
  });
}

function extendQuery(url: URL, pairs: Iterable<Pair>): URL {
  const extended = new URL(url);
  extended.search = encodePairs([...url.searchParams, ...pairs]);
  return extended;
}

function emptyBody(headers: Headers, method: string): string | undefined {
  if (method === "GET") return undefined;
  headers.set("content-type", "application/x-www-form-urlencoded");
  return "";
}

function formBody(headers: Headers, body: URLSearchParams, params: Params): string {
  const type = headers.get("content-type");
  if (type !== null && /^application\/json(?:;|$)/i.test(type)) {
    // The caller's values stay, numbers and objects included; what authentication added is text.
    const given = Object.entries(params).filter(
      ([, value]) => value !== undefined && value !== null,
    );
    return JSON.stringify({ ...Object.fromEntries(body), ...Object.fromEntries(given) });
  }
  if (type === null) headers.set("content-type", "application/x-www-form-urlencoded");
  // The platform's form, with `%20` for a space as everywhere here.
  return body.toString().replaceAll("+", "%20");
}

/** Whether a status is a redirect; browsers report 0 for one that must not be followed. */
export function isRedirect(status: number): boolean {
  return (
    status === 0 ||
    (status >= 301 && status <= 308 && status !== 304 && status !== 305 && status !== 306)
  );
}
