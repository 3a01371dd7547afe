import type { Context } from "../../context.ts";
import { contextInitKey } from "../../exchange/create-context.ts";
import { NodeExchange } from "../exchange/node-exchange.ts";
import { toLimitedStream } from "../request/request-body.ts";

/** Opens the body of a request when it is read; null when there is none after all. */
export type OpenBody = () => ReadableStream<Uint8Array> | null;

/**
 * Finds the body that a Node application reads; undefined when there is none. That of GET and HEAD, which no `Request`
 * has, is taken from Node's own request, unless somebody took it away or put another method in its place.
 */
export function listenerBody(request: Request, context: Context): OpenBody | undefined {
  const { method, headers } = request;
  if (method !== "GET" && method !== "HEAD") return () => request.body;
  const exchange = context.get(contextInitKey);
  if (!(exchange instanceof NodeExchange) || !exchange.hasBody) return undefined;
  const { request: message, runtime } = exchange;
  const isFramed = headers.has("content-length") || headers.has("transfer-encoding");
  if (!isFramed || message.method !== method || message.readableDidRead) return undefined;
  return () => toLimitedStream(message, runtime.maxRequestBodySize);
}
