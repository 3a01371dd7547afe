import { decodeBase64, encodeBase64 } from "@fetchwork/kit";
import type { StoredAnswer } from "./idempotency-store.ts";
import { continueStream, readUpTo } from "../body/stream-start.ts";

/** A response that is to be sent, and what is kept of it. */
export interface KeptAnswer {
  readonly response: Response;
  readonly answer: StoredAnswer;
}

// What belongs to one connection or one moment (RFC 9110, 7.6.1).
const passing: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/**
 * Reads a response of at most `limit` bytes so that it can be sent again. A larger one, and one of events that need not
 * end, goes out as it is, and nothing is kept of its body.
 */
export async function keepAnswer(response: Response, limit: number): Promise<KeptAnswer> {
  const { status, statusText, headers, body } = response;
  const head = { status, statusText, headers: keptHeaders(headers) };
  if (body === null) return { response, answer: { ...head, body: "" } };
  if (headers.get("content-type")?.startsWith("text/event-stream") === true) {
    return { response, answer: { ...head, body: null } };
  }
  const reader = body.getReader();
  const { bytes, isWhole } = await readUpTo(reader, limit);
  if (isWhole) {
    const answer = { ...head, body: encodeBase64(bytes) };
    return { response: makeResponse(answer, bytes), answer };
  }
  const rest = continueStream(bytes, reader);
  return {
    response: new Response(rest as BodyInit, { status, statusText, headers }),
    answer: { ...head, body: null },
  };
}

/** The response that was kept; `undefined` when its body was not. */
export function replayAnswer(answer: StoredAnswer): Response | undefined {
  const bytes = answer.body === null ? undefined : decodeBase64(answer.body);
  return bytes === undefined ? undefined : makeResponse(answer, bytes);
}

function makeResponse(answer: StoredAnswer, bytes: Uint8Array<ArrayBuffer>): Response {
  const { status, statusText } = answer;
  const headers = new Headers(answer.headers.map(([name, value]) => [name, value]));
  const hasNone = status === 204 || status === 205 || status === 304;
  if (!hasNone) headers.set("content-length", String(bytes.byteLength));
  return new Response(hasNone ? null : bytes, { status, statusText, headers });
}

function keptHeaders(headers: Headers): readonly (readonly [string, string])[] {
  return [...headers].filter(([name]) => !passing.has(name));
}
