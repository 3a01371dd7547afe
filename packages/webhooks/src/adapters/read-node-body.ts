import { ByteCollector } from "@fetchwork/kit";
import { bodyError, type BodyLimits } from "../receive/body-error.ts";
import type { NodeRequest } from "./node-message.ts";
import type { UnverifiedBody } from "../receive/unverified-budget.ts";

const encoder = new TextEncoder();

/**
 * Reads the bytes of a request, or takes those that somebody kept. Stops as soon as they are too many or take too long.
 * A body that was read, and of which no bytes were kept, is refused at once: its bytes cannot be had again, and its stream
 * would never end.
 *
 * @throws WebhookError `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_TIMEOUT`,
 *   `ERR_WEBHOOKS_BODY_BUDGET`, `ERR_WEBHOOKS_BODY`
 */
export function readNodeBody(
  request: NodeRequest,
  limits: BodyLimits,
  unverified: UnverifiedBody,
): Uint8Array | Promise<Uint8Array> {
  const kept = bytesOf(request.rawBody) ?? bytesOf(request.body);
  if (kept !== undefined) {
    if (kept.length > limits.maxBody) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
    return kept;
  }
  if (request.readableDidRead === true) throw bodyError("ERR_WEBHOOKS_BODY_USED");
  // Its events have been, so nothing would end the wait.
  if (request.destroyed === true) throw bodyError("ERR_WEBHOOKS_BODY");
  return readStream(request, limits, unverified);
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body instanceof Uint8Array) return body;
  return typeof body === "string" ? encoder.encode(body) : undefined;
}

function readStream(
  request: NodeRequest,
  { maxBody, timeout }: BodyLimits,
  unverified: UnverifiedBody,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = new ByteCollector();
    const stop = (): void => {
      clearTimeout(timer);
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", onClose);
      request.off("error", onError);
      // Without a listener a later error of the connection would end the process.
      request.on("error", ignore);
    };
    const onData = (chunk: Uint8Array | string): void => {
      const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
      if (body.size + bytes.length > maxBody) return fail(bodyError("ERR_WEBHOOKS_BODY_SIZE"));
      try {
        unverified.grow(body.size + bytes.length);
      } catch (error) {
        return fail(error);
      }
      body.add(bytes);
    };
    const fail = (error: unknown): void => {
      stop();
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- errors of our own
      reject(error);
    };
    const onEnd = (): void => {
      stop();
      resolve(body.join());
    };
    const onError = (cause: unknown): void => fail(bodyError("ERR_WEBHOOKS_BODY", cause));
    const onClose = (): void => onError(undefined);
    const timer =
      timeout === Infinity
        ? undefined
        : setTimeout(() => fail(bodyError("ERR_WEBHOOKS_BODY_TIMEOUT")), timeout);
    unverified.onRefused = fail;
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", onClose);
    request.on("error", onError);
  });
}

function ignore(): void {}
