import type { IncomingMessage } from "node:http";
import type { NodeRuntime } from "../exchange/node-exchange.ts";
import type { HostCheck } from "./host-check.ts";
import type { Refusal } from "./reject-request.ts";

/** What the head of a request says of its host and its body. */
export interface Framing {
  readonly hosts: number;
  readonly host: string;
  readonly hasBody: boolean;
  readonly length: number;
  /** All of `Transfer-Encoding`. */
  readonly coding: string | undefined;
}

/** Looks through the header lines once; Node's own parsed `headers` cost more and hide repeated lines. */
export function readFraming({ rawHeaders }: IncomingMessage): Framing {
  let hosts = 0;
  let host = "";
  let hasBody = false;
  let length = 0;
  let coding: string | undefined;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    const value = rawHeaders[index + 1];
    if (name === undefined || value === undefined) continue;
    if (name.length === 4 && name.toLowerCase() === "host") {
      hosts += 1;
      host = value;
    } else if (name === ":authority" && host === "") {
      // HTTP/2's word for Host (RFC 9113, 8.3.1).
      host = value;
    } else if (name.length === 14 && name.toLowerCase() === "content-length") {
      hasBody = true;
      length = Number(value);
    } else if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
      hasBody = true;
      coding = coding === undefined ? value : `${coding}, ${value}`;
    }
  }
  return { hosts, host, hasBody, length, coding };
}

/** What no handler is to see; undefined when there is nothing against the request. */
export function findRefusal(
  request: IncomingMessage,
  framing: Framing,
  { runtime, hosts }: { readonly runtime: NodeRuntime; readonly hosts: HostCheck },
): Refusal | undefined {
  const { host, coding, length } = framing;
  // RFC 9112, 3.2: exactly one Host, and a valid one. It may be empty when the target has no authority.
  if (framing.hosts > 1 || (framing.hosts === 0 && needsHost(request))) {
    return { status: 400, detail: "the request must have one Host header" };
  }
  if (host !== "" && !hosts.isValid(host)) {
    return { status: 400, detail: "the Host header is no valid host" };
  }
  if (
    request.httpVersionMajor === 2 &&
    runtime.maxHeaderSize !== undefined &&
    request.rawHeaders.join().length > runtime.maxHeaderSize
  ) {
    return { status: 431, detail: "the head of the request is too large" };
  }
  const target = request.url ?? "/";
  if (!target.startsWith("/") && !isStar(request) && !isAbsoluteTarget(target)) {
    return { status: 400, detail: "the target of the request is no path and no URL" };
  }
  // RFC 9112, 3.2: a target has no fragment. Who reads on sees another path than who stops there.
  if (target.includes("#")) {
    return { status: 400, detail: "the target of the request has a fragment" };
  }
  // No `Request` can have this method (Fetch, 2.2.1).
  if (request.method === "TRACE") return { status: 501, detail: "TRACE is not supported" };
  // RFC 9112, 6.1: what the sender coded before it cut it into chunks is not what it looks like.
  if (coding !== undefined && !isChunked(coding)) {
    return { status: 501, detail: "the Transfer-Encoding is not supported, only chunked is" };
  }
  const { maxRequestBodySize } = runtime;
  if (maxRequestBodySize !== undefined && length > maxRequestBodySize) {
    return { status: 413, detail: `the body is larger than ${maxRequestBodySize} bytes` };
  }
  return undefined;
}

/** Whether the request asks about the server as a whole (RFC 9110, 9.3.7), which no URL says. */
export function isStar({ method, url }: IncomingMessage): boolean {
  return url === "*" && method === "OPTIONS";
}

function needsHost({ httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMajor === 1 && httpVersionMinor > 0;
}

function isAbsoluteTarget(target: string): boolean {
  return /^https?:\/\//i.test(target) && URL.canParse(target);
}

function isChunked(coding: string): boolean {
  return coding === "chunked" || coding.trim().toLowerCase() === "chunked";
}
