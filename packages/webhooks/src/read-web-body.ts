import { BodyBytes } from "./body-bytes.ts";
import { bodyError, type BodyLimits } from "./body-error.ts";

/**
 * Reads the bytes of a request, and stops as soon as they are too many or take too long.
 *
 * @throws WebhookError `ERR_WEBHOOKS_BODY_USED`, `ERR_WEBHOOKS_BODY_SIZE`, `ERR_WEBHOOKS_BODY_TIMEOUT`,
 *   `ERR_WEBHOOKS_BODY`
 */
export async function readWebBody(request: Request, limits: BodyLimits): Promise<Uint8Array> {
  const { maxBody, timeout } = limits;
  const { body } = request;
  if (request.bodyUsed || body?.locked === true) throw bodyError("ERR_WEBHOOKS_BODY_USED");
  if (Number(request.headers.get("content-length") ?? 0) > maxBody) {
    throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
  }
  if (body === null) return new Uint8Array(0);
  const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
  const release = (): void => {
    // Not awaited: a source may take its time, and the answer is known.
    reader.cancel().catch(() => undefined);
  };
  let isLate = false;
  const timer =
    timeout === Infinity
      ? undefined
      : setTimeout(() => {
          isLate = true;
          release();
        }, timeout);
  try {
    return await readAll(reader, maxBody, () => isLate);
  } catch (error) {
    release();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  maxBody: number,
  isLate: () => boolean,
): Promise<Uint8Array> {
  const bytes = new BodyBytes();
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (cause) {
      throw bodyError(isLate() ? "ERR_WEBHOOKS_BODY_TIMEOUT" : "ERR_WEBHOOKS_BODY", cause);
    }
    if (isLate()) throw bodyError("ERR_WEBHOOKS_BODY_TIMEOUT");
    if (chunk.done) return bytes.join();
    if (bytes.size + chunk.value.byteLength > maxBody) throw bodyError("ERR_WEBHOOKS_BODY_SIZE");
    bytes.add(chunk.value);
  }
}
