import type { IncomingMessage } from "node:http";
import { isHttp2, type Rejection } from "./reject-request.ts";

/** Kinds of values of a `Host` header. The URL parser leaves a plain host as it is. */
export type HostKind = "invalid" | "plain" | "valid";

/** Facts of the head of a request about its host and its body. */
export interface RequestHead {
  readonly hostCount: number;
  /** Empty when there is none. */
  readonly host: string;
  readonly hostKind: HostKind;
  readonly hasBody: boolean;
  readonly length: number;
  /** All of `Transfer-Encoding`. */
  readonly coding: string | undefined;
}

/** Maximum sizes of a request, in bytes. */
export interface RequestLimits {
  /** For HTTP/2, whose server does not enforce it. */
  readonly maxHeaderSize: number | undefined;
  readonly maxRequestBodySize: number | undefined;
}

/** Reads the header lines once; Node's own parsed `headers` cost more and hide repeated lines. */
export function readHead(request: IncomingMessage, hosts: HostCheck): RequestHead {
  const { rawHeaders } = request;
  let hostCount = 0;
  let host = "";
  let authority: string | undefined;
  // Over HTTP/2 a body needs neither `Content-Length` nor `Transfer-Encoding`.
  let hasBody = isHttp2(request) && !request.stream.endAfterHeaders;
  let length = 0;
  let coding: string | undefined;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    const value = rawHeaders[index + 1];
    if (name === undefined || value === undefined) continue;
    if (name.length === 4 && name.toLowerCase() === "host") {
      hostCount += 1;
      host = value;
    } else if (name === ":authority") {
      authority = value;
    } else if (name.length === 14 && name.toLowerCase() === "content-length") {
      hasBody = true;
      length = Number(value);
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      hasBody = true;
      coding = coding === undefined ? value : `${coding}, ${value}`;
    }
  }
  // HTTP/2's name for Host. A client that sends both must send the same twice (RFC 9113, 8.3.1).
  if (authority !== undefined) {
    if (hostCount > 0 && authority.toLowerCase() !== host.toLowerCase()) hostCount += 1;
    host = authority;
  }
  const hostKind = host === "" ? "valid" : hosts.kindOf(host);
  return { hostCount, host, hostKind, hasBody, length, coding };
}

/** Finds the reason why no handler may see a request; undefined when it is fine. */
export function findRejection(
  request: IncomingMessage,
  head: RequestHead,
  limits: RequestLimits,
): Rejection | undefined {
  // Node's parser accepts any version; a request that calls itself HTTP/2.0 over HTTP/1 needs the
  // rules of HTTP/1.
  if (request.httpVersionMajor !== 1 && !isHttp2(request)) {
    return { status: 505, detail: "only HTTP/1.0, HTTP/1.1 and HTTP/2 are supported" };
  }
  // RFC 9112, 3.2: exactly one Host, and a valid one. It may be empty when the target has no
  // authority.
  if (head.hostCount > 1 || (head.hostCount === 0 && needsHost(request))) {
    return { status: 400, detail: "the request must have one Host header" };
  }
  if (head.hostKind === "invalid") {
    return { status: 400, detail: "the Host header is invalid" };
  }
  if (
    isHttp2(request) &&
    limits.maxHeaderSize !== undefined &&
    request.rawHeaders.join().length > limits.maxHeaderSize
  ) {
    return { status: 431, detail: "the head of the request is too large" };
  }
  const target = request.url ?? "/";
  if (!target.startsWith("/") && !isServerWide(request) && !isAbsoluteTarget(target)) {
    return { status: 400, detail: "the target of the request must be a path or a URL" };
  }
  // RFC 9112, 3.2: a target has no fragment. A reader that stops there and one that goes on see
  // different paths.
  if (target.includes("#")) {
    return { status: 400, detail: "the target of the request has a fragment" };
  }
  // No `Request` can have this method (Fetch, 2.2.1).
  if (request.method === "TRACE") return { status: 501, detail: "TRACE is not supported" };
  // RFC 9112, 6.1: a proxy that speaks HTTP/1.0 does not know it, and sees another end of the body.
  if (head.coding !== undefined && request.httpVersion === "1.0") {
    return { status: 400, detail: "HTTP/1.0 has no Transfer-Encoding" };
  }
  // RFC 9112, 6.1: where a body with another coding ends, sender and receiver may see differently.
  if (head.coding !== undefined && !isChunked(head.coding)) {
    return { status: 501, detail: "the Transfer-Encoding is not supported, only chunked is" };
  }
  const { maxRequestBodySize } = limits;
  if (maxRequestBodySize !== undefined && head.length > maxRequestBodySize) {
    return { status: 413, detail: `the body is larger than ${maxRequestBodySize} bytes` };
  }
  return undefined;
}

/** Whether the request is about the server as a whole (RFC 9110, 9.3.7): no URL says that. */
export function isServerWide({ method, url }: IncomingMessage): boolean {
  return url === "*" && method === "OPTIONS";
}

function needsHost({ httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor > 0;
}

function isAbsoluteTarget(target: string): boolean {
  if (!/^https?:\/\//i.test(target) || !URL.canParse(target)) return false;
  return hostPattern.test(new URL(target).host);
}

function isChunked(coding: string): boolean {
  return coding === "chunked" || coding.trim().toLowerCase() === "chunked";
}

/** Names, IPv4 addresses and IPv6 addresses, with or without a port. */
const hostPattern = /^(?:\[[A-Fa-f0-9:.]+\]|(?:[A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+\.?)(?::\d{1,5})?$/;

const maxHosts = 256;
// A DNS name of 253 characters, a colon and a port.
const maxLength = 259;

/**
 * Finds out whether a value of `Host` makes a URL, so that `new URL(request.url)` never throws in a
 * handler. A text that looks like a host need not be one: `1.2.3.4.5`, `a:99999`, `[::1::2]`.
 * Remembers some hosts, since most clients use the same ones.
 */
export class HostCheck {
  readonly #known = new Map<string, HostKind>();

  kindOf(host: string): HostKind {
    const known = this.#known.get(host);
    if (known !== undefined) return known;
    const kind = findKind(host);
    if (host.length <= maxLength) {
      // A client that fills it with invented names costs others one parse each, and no memory.
      if (this.#known.size >= maxHosts) this.#known.clear();
      this.#known.set(host, kind);
    }
    return kind;
  }
}

function findKind(host: string): HostKind {
  if (!hostPattern.test(host) || !URL.canParse(`http://${host}/`)) return "invalid";
  const isPlain = ["http", "https"].every(
    (scheme) => new URL(`${scheme}://${host}/`).host === host,
  );
  return isPlain ? "plain" : "valid";
}
