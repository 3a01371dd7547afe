import { decodeBase64 } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import type { EventMap } from "../event-map.ts";
import { type HeaderReader, readHeaders } from "../headers.ts";
import { type ReceiverOptions, receiverOptionNames } from "../receive/receiver-options.ts";
import { errorResponse, type ReceiverResponse } from "../receive/receiver-response.ts";
import { trimSlashes } from "../receive/receiver.ts";
import { Webhooks } from "../receive/webhooks.ts";

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
const decoder = new TextDecoder();

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
  options: ReceiverOptions = {},
): (event: LambdaEvent) => Promise<LambdaResult> {
  checkOptions("createLambdaHandler", options, receiverOptionNames);
  const receiver = Webhooks.createReceiver(webhooks, options);
  return async (event) => {
    const { httpMethod, requestContext, path = "/", rawPath = path, rawQueryString } = event;
    const method = httpMethod ?? requestContext?.http?.method ?? "GET";
    if (trimSlashes(rawPath) !== receiver.path) {
      return toResult(errorResponse(404, `Unknown route: ${method} ${rawPath}`));
    }
    const running: Promise<unknown>[] = [];
    const response = await receiver.respond({
      method,
      url: rawQueryString ? `${rawPath}?${rawQueryString}` : rawPath,
      headers: headersOf(event),
      readBody: (unverified) => {
        const body = bodyOf(event);
        unverified.check(body.length);
        return Promise.resolve(body);
      },
      waitUntil: (promise) => running.push(promise),
    });
    await Promise.all(running);
    return toResult(response);
  };
}

/** Format 1.0 has each header twice; a load balancer has one of the two. */
function headersOf({ headers, multiValueHeaders }: LambdaEvent): HeaderReader {
  return readHeaders({ ...multiValueHeaders, ...headers });
}

function bodyOf({ body, isBase64Encoded = false }: LambdaEvent): Uint8Array {
  if (typeof body !== "string") return new Uint8Array(0);
  // Invalid base64 becomes an empty body, whose signature is invalid.
  return isBase64Encoded ? (decodeBase64(body) ?? new Uint8Array(0)) : encoder.encode(body);
}

function toResult({ status, headers, body }: ReceiverResponse): LambdaResult {
  return { statusCode: status, headers, body: decoder.decode(body), isBase64Encoded: false };
}
