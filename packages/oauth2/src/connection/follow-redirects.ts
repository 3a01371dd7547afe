import type { TargetCheck } from "../message/allowed-origins.ts";
import type { Exchange, Received } from "./connection.ts";
import { OAuth2RedirectError } from "../errors.ts";
import { isRedirect } from "./form-request.ts";
import { withQuery } from "../message/form.ts";
import { isHttpUrl } from "../message/secure-url.ts";
import { sendProven, type ProofTarget, type RequestProof } from "./proof.ts";
import { isSecretHeader } from "../log/redact.ts";
import { isStream } from "../message/request-body.ts";
import type { OAuth2Response } from "../message/response.ts";
import type { SendMode } from "../message/send-mode.ts";

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

/** A request of a chain of redirects, without the token; its secrets are those of the first. */
export interface Hop extends Exchange {
  readonly credential: Credential | undefined;
}

/** How the requests of a chain of redirects are sent. */
export interface HopSender<R extends Received> {
  readonly send: (exchange: Exchange) => Promise<R>;
  /** Default: that of the client. */
  readonly maxRedirects?: number | undefined;
  /** Default: `follow`. */
  readonly redirect?: RequestInit["redirect"] | undefined;
  /** Statuses after which a POST becomes a GET, as it does after a 303. Default: none. */
  readonly postToGet?: readonly number[] | undefined;
}

/** Where redirects may lead. */
export interface RedirectRules {
  readonly checkTarget: TargetCheck;
  /** Redirects to follow. */
  readonly maxRedirects: number;
}

/**
 * Sends a request and follows redirects. Verb and body stay, except after a 303 and where
 * `postToGet` says so. A redirect to another origin takes no credentials along: no token in any
 * place, no header that may hold one; and where it would take the body, it is an error.
 *
 * @throws OAuth2RedirectError, OAuth2ConnectionError and its kin; OAuth2UsageError
 * `ERR_OAUTH_TARGET` and `ERR_OAUTH_OPTION`
 */
export async function follow<R extends Received>(
  rules: RedirectRules,
  first: Hop,
  sender: HopSender<R>,
): Promise<R> {
  const { maxRedirects = rules.maxRedirects, redirect = "follow", postToGet = [] } = sender;
  let hop = first;
  for (let count = 0; ; count += 1) {
    const received = await sendHop(hop, sender);
    const { status } = received.head;
    const isLast = redirect === "manual" || (status !== 0 && count >= maxRedirects);
    if (!isRedirect(status) || (redirect !== "error" && isLast)) {
      // Every response of `fetch` after a redirect has this flag.
      if (count > 0 && received.stream !== undefined) {
        Object.defineProperty(received.stream, "redirected", { value: true });
      }
      return received;
    }
    await received.stream?.body?.cancel();
    if (redirect === "error") {
      throw new OAuth2RedirectError(`HTTP ${status}, and redirect is "error"`, {
        response: received.head,
      });
    }
    hop = nextHop(hop, received.head, postToGet);
    rules.checkTarget(hop.url);
  }
}

async function sendHop<R extends Received>(hop: Hop, { send }: HopSender<R>): Promise<R> {
  const { method, url, body, credential } = hop;
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
        ...hop,
        url: inQuery ? withQuery(url, [[credential.paramName, credential.token]]) : url,
        headers,
      });
    },
  });
}

function nextHop(hop: Hop, response: OAuth2Response, postToGet: readonly number[]): Hop {
  const url = locationOf(hop, response);
  const { status } = response;
  const toGet =
    (status === 303 && hop.method !== "HEAD") ||
    (hop.method === "POST" && postToGet.includes(status));
  const headers = new Headers(hop.headers);
  const body = toGet ? undefined : hop.body;
  if (toGet) for (const name of bodyHeaders) headers.delete(name);
  const method = toGet ? "GET" : hop.method;
  if (isStream(body)) {
    throw new OAuth2RedirectError("a redirect would send a streamed body again", { response });
  }
  if (url.origin === hop.url.origin) {
    // In a body the token went into the first request, and is in none that has no body.
    return { ...hop, method, url, headers, body };
  }
  if (body !== undefined && body !== "") {
    throw new OAuth2RedirectError(
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
    throw new OAuth2RedirectError(`HTTP ${status} without a Location`, { response });
  }
  // Recorded behaviour: two slashes are a path of this host here, never another host.
  const target = location.startsWith("//") ? url.origin + location : location;
  const next = URL.canParse(target, url) ? new URL(target, url) : undefined;
  if (next === undefined || !isHttpUrl(next)) {
    throw new OAuth2RedirectError(
      `HTTP ${status} with a Location that is not a plain http or https URL`,
      { response },
    );
  }
  if (next.hash === "") next.hash = url.hash;
  return next;
}
