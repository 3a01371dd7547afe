import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "../../context.ts";
import { contextInitKey } from "../../exchange/create-context.ts";
import { NodeExchange } from "./node-exchange.ts";

/** Node's own objects of an exchange; over HTTP/2 those of its compatibility API. */
export interface NodeMessages {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Returns Node's own request and response of an exchange; undefined when it does not run on Node's
 * server. For what the web's classes cannot express. Do not write a response with them and return
 * another one.
 */
export function nodeMessages(context: Context): NodeMessages | undefined {
  const init = context.get(contextInitKey);
  if (!(init instanceof NodeExchange)) return undefined;
  init.hasExposedMessages = true;
  return { request: init.request, response: init.response };
}

/**
 * Sends 103 Early Hints (RFC 8297) before the response. Does nothing where that is not possible:
 * they are only hints.
 *
 * @param links - Values of `Link`, such as `</app.css>; rel=preload; as=style`.
 */
export function writeEarlyHints(context: Context, links: readonly string[]): void {
  const init = context.get(contextInitKey);
  if (!(init instanceof NodeExchange)) return;
  const { response } = init;
  if (response.headersSent || response.destroyed) return;
  response.writeEarlyHints({ link: [...links] });
}
