import { decodeBase64, encodeBase64 } from "@fetchwork/kit";
import { continueStream, readUpTo } from "../body/stream-start.ts";
import type { StoredResponse } from "./idempotency-store.ts";

// They belong to one connection or one moment (RFC 9110, 7.6.1).
const notStored: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Reads a response of up to `limit` bytes so that it can be sent again. Returns what to store and
 * the response to send now. A larger response, and a stream of events, which may never end, is sent
 * as it is and stored without its body.
 */
export async function storeResponse(
  response: Response,
  limit: number,
): Promise<{ readonly response: Response; readonly stored: StoredResponse }> {
  const { status, statusText, headers, body } = response;
  const head = {
    status,
    statusText,
    headers: [...headers].filter(([name]) => !notStored.has(name)),
  };
  if (body === null) return { response, stored: { ...head, body: "" } };
  if (headers.get("content-type")?.startsWith("text/event-stream") === true) {
    return { response, stored: { ...head, body: null } };
  }
  const reader = body.getReader();
  const { bytes, isWhole } = await readUpTo(reader, limit);
  if (isWhole) {
    const stored = { ...head, body: encodeBase64(bytes) };
    return { response: makeResponse(stored, bytes), stored };
  }
  const rest = continueStream(bytes, reader);
  return {
    response: new Response(rest as BodyInit, { status, statusText, headers }),
    stored: { ...head, body: null },
  };
}

/** Makes a response of a stored one; undefined when its body was not stored. */
export function replayResponse(stored: StoredResponse): Response | undefined {
  const bytes = stored.body === null ? undefined : decodeBase64(stored.body);
  return bytes === undefined ? undefined : makeResponse(stored, bytes);
}

function makeResponse(stored: StoredResponse, bytes: Uint8Array<ArrayBuffer>): Response {
  const { status, statusText } = stored;
  const headers = new Headers(stored.headers.map(([name, value]) => [name, value]));
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  if (hasBody) headers.set("content-length", String(bytes.byteLength));
  return new Response(hasBody ? bytes : null, { status, statusText, headers });
}
