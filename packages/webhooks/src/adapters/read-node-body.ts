import { ByteCollector } from "@fetchwork/kit";
import { bodyError } from "../errors.ts";
import { readingError, type UnverifiedBody } from "../receive/unverified-body.ts";
import type { NodeRequest } from "./node-message.ts";

const encoder = new TextEncoder();

/**
 * Reads the bytes of a request within the limits of its body, or takes the bytes that a framework
 * kept. A body that was read without keeping its bytes is refused at once: they are lost, and its
 * stream would never end.
 *
 * @throws WebhookError `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`,
 *   `ERR_WEBHOOKS_BODY_TIMEOUT`, `ERR_WEBHOOKS_BODY_BUDGET`, `ERR_WEBHOOKS_BODY`
 */
export async function readNodeBody(
  request: NodeRequest,
  unverified: UnverifiedBody,
): Promise<Uint8Array> {
  const kept = bytesOf(request.rawBody) ?? bytesOf(request.body);
  if (kept !== undefined) {
    unverified.check(kept.length);
    return kept;
  }
  if (request.readableDidRead === true) throw bodyError("ERR_WEBHOOKS_BODY_USED");
  // It has emitted its last event, so nothing would end the wait.
  if (request.destroyed === true) throw bodyError("ERR_WEBHOOKS_BODY");
  return readStream(request, unverified);
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body instanceof Uint8Array) return body;
  return typeof body === "string" ? encoder.encode(body) : undefined;
}

// By events and not as an async iterable, whose `return()` would destroy the request before the
// response is sent.
function readStream(request: NodeRequest, unverified: UnverifiedBody): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = new ByteCollector();
    const stop = (): void => {
      request.off("data", onData);
      request.off("end", onEnd);
      request.off("close", fail);
      request.off("error", fail);
      // Without a listener a later error of the connection would end the process.
      request.on("error", ignore);
    };
    const fail = (cause: unknown): void => {
      stop();
      unverified.close();
      reject(readingError(cause));
    };
    const onData = (chunk: Uint8Array | string): void => {
      const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
      try {
        unverified.check(body.size + bytes.length);
        unverified.share.grow(body.size + bytes.length);
      } catch (error) {
        return fail(error);
      }
      body.add(bytes);
    };
    const onEnd = (): void => {
      stop();
      resolve(body.join());
    };
    unverified.start(fail);
    unverified.share.start(fail);
    request.on("data", onData);
    request.on("end", onEnd);
    request.on("close", fail);
    request.on("error", fail);
  });
}

function ignore(): void {}
