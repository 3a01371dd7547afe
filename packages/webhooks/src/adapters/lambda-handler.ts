import { decodeBase64, encodeBase64 } from "@fetchwork/kit";
import type { EventMap } from "../event-map.ts";
import { checkOptions } from "../check-options.ts";
import {
  createWebMiddleware,
  webReceiverOptionNames,
  type WebReceiverOptions,
} from "./web-middleware.ts";
import type { Webhooks } from "../receive/webhooks.ts";

/** An event of API Gateway (payload format 1.0 or 2.0), of a function URL or of a load balancer. */
export interface LambdaEvent {
  /** Format 1.0. */
  readonly httpMethod?: string | undefined;
  /** Format 1.0. */
  readonly path?: string | undefined;
  /** Format 2.0. */
  readonly rawPath?: string | undefined;
  /** Format 2.0. */
  readonly rawQueryString?: string | undefined;
  readonly headers?: Readonly<Record<string, string | undefined>> | null | undefined;
  readonly multiValueHeaders?:
    Readonly<Record<string, readonly string[] | undefined>> | null | undefined;
  readonly body?: string | null | undefined;
  readonly isBase64Encoded?: boolean | undefined;
  readonly requestContext?:
    { readonly http?: { readonly method?: string | undefined } | undefined } | undefined;
}

/** The result of a Lambda function. */
export interface LambdaResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly isBase64Encoded: boolean;
}

const encoder = new TextEncoder();
const unreadable: LambdaResult = {
  statusCode: 400,
  headers: { "content-type": "application/json", "x-content-type-options": "nosniff" },
  body: '{"error":"Invalid method or header"}',
  isBase64Encoded: false,
};

/**
 * Makes a receiver for Lambda functions. Behind a named stage of an HTTP API paths begin with the
 * stage: set `path` to `/prod/api/…` there. The function returns only after all handlers are done,
 * also after `timeout`, as a returned function is frozen.
 *
 * @example
 * ```ts
 * export const handler = createLambdaHandler(webhooks);
 * ```
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createLambdaHandler<Events extends EventMap, Transformed>(
  webhooks: Webhooks<Events, Transformed>,
  options: WebReceiverOptions = {},
): (event: LambdaEvent) => Promise<LambdaResult> {
  checkOptions("createLambdaHandler", options, webReceiverOptionNames);
  const middleware = createWebMiddleware(webhooks, options);
  return async (event) => {
    let request: Request;
    try {
      request = toRequest(event);
    } catch {
      // A header or method that a `Request` does not allow, such as TRACE.
      return unreadable;
    }
    const running: Promise<unknown>[] = [];
    const response = await middleware(request, {
      waitUntil: (promise: Promise<unknown>) => running.push(promise),
    });
    await Promise.all(running);
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = decodeText(bytes);
    return {
      statusCode: response.status,
      headers: Object.fromEntries(response.headers),
      body: text ?? encodeBase64(bytes),
      isBase64Encoded: text === undefined,
    };
  };
}

function toRequest(event: LambdaEvent): Request {
  const { httpMethod, requestContext, path, rawPath = path ?? "/", rawQueryString } = event;
  const headers = new Headers();
  for (const [name, value] of Object.entries(event.headers ?? {})) {
    if (value !== undefined) headers.set(name, value);
  }
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    if (values !== undefined && !headers.has(name)) headers.set(name, values.join(", "));
  }
  const method = httpMethod ?? requestContext?.http?.method ?? "GET";
  const query = rawQueryString ? `?${rawQueryString}` : "";
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(`http://localhost${rawPath.startsWith("/") ? "" : "/"}${rawPath}${query}`, {
    method,
    headers,
    ...(hasBody ? { body: bodyOf(event) } : {}),
  });
}

function bodyOf({ body, isBase64Encoded = false }: LambdaEvent): Uint8Array<ArrayBuffer> {
  if (typeof body !== "string") return new Uint8Array(0);
  // Invalid base64 becomes an empty body, whose signature is invalid.
  return isBase64Encoded ? (decodeBase64(body) ?? new Uint8Array(0)) : encoder.encode(body);
}

function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
