import type { Transport } from "@fetchwork/http";
import { parseRetryAfter } from "@fetchwork/kit";
import type { SignatureKey } from "../../../schemes/signature-scheme.ts";
import type { Vendor } from "../../../vendors/define-vendor.ts";
import type { DeliveryAttempt } from "../records.ts";
import { reasonOf, reasonOfStatus, timeoutReason } from "./failure-reason.ts";

/** Message for an endpoint. */
export interface Message {
  readonly id: string;
  readonly name: string;
  readonly body: Uint8Array;
  readonly url: string;
  /** Reads the secrets that only the sender may know. Throws when the secrets cannot be read. */
  readonly secrets: () => MessageSecrets;
}

/** Keys that sign a message, and headers that are sent with the message. */
export interface MessageSecrets {
  /** The current key first. */
  readonly keys: readonly SignatureKey[];
  /** Headers of the endpoint; in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How messages are sent. */
export interface AttemptOptions {
  readonly transport: Transport;
  readonly vendor: Vendor;
  /** Milliseconds for the whole attempt. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** Result of one attempt. */
export interface AttemptResult {
  readonly attempt: DeliveryAttempt;
  /** Whether time ended before the response did; a head's status counts all the same. */
  readonly timedOut: boolean;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfter?: number | undefined;
}

/** The version of this package, part of the `user-agent`. */
const version = "0.1.0";
/** Bytes of a response that are read to reuse its connection; a longer response closes it. */
const maximumResponse = 16_384;
/** Characters of a response that are kept. */
const maximumExcerpt = 500;

/** Signs a message, sends it and reads the status of the response. Never rejects. */
export async function attemptDelivery(
  message: Message,
  options: AttemptOptions,
): Promise<AttemptResult> {
  const startedAt = new Date();
  const begun = performance.now();
  const late = new AbortController();
  // Not `AbortSignal.timeout`, whose timer would outlive the attempt.
  const timer = setTimeout(() => late.abort(), options.timeout);
  const signal = AbortSignal.any([options.signal, late.signal]);
  const attemptOf = (outcome: Omit<DeliveryAttempt, "at" | "duration">): DeliveryAttempt => ({
    at: startedAt.toISOString(),
    duration: Math.round(performance.now() - begun),
    ...outcome,
  });
  try {
    const { status, retryAfter, text } = await post(message, { ...options, signal, startedAt });
    const wait = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter);
    const isSuccess = status >= 200 && status < 300;
    const reason = isSuccess ? undefined : reasonOfStatus(status);
    const excerpt = isSuccess || text === "" ? undefined : text;
    const attempt = attemptOf({ status, reason, excerpt });
    return { attempt, timedOut: late.signal.aborted, retryAfter: wait };
  } catch (error) {
    const { code, reason } = late.signal.aborted ? timeoutReason : reasonOf(error);
    const timedOut = late.signal.aborted || code === "ERR_HTTP_TIMEOUT";
    return { attempt: attemptOf({ error: code, reason }), timedOut };
  } finally {
    clearTimeout(timer);
  }
}

async function signedHeaders(
  { id, name, body, url }: Message,
  keys: readonly SignatureKey[],
  { vendor, startedAt }: AttemptOptions & { readonly startedAt: Date },
): Promise<Readonly<Record<string, string>>> {
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const signed = { id, timestamp, body, url };
  const signatures = await Promise.all(keys.map(async (key) => key.sign(signed)));
  const [first = {}] = signatures;
  const signature = signatures.length > 1 ? vendor.scheme.combine?.(signatures) : first;
  const { contentType = "application/json", eventHeader, deliveryHeader } = vendor;
  return {
    "content-type": contentType,
    "user-agent": `fetchwork-webhooks/${version}`,
    ...(eventHeader !== undefined && { [eventHeader.toLowerCase()]: name }),
    // Some schemes sign the identifier and send it in the same header.
    ...(deliveryHeader !== undefined && { [deliveryHeader.toLowerCase()]: id }),
    ...(signature ?? first),
  };
}

async function post(
  message: Message,
  options: AttemptOptions & { readonly startedAt: Date },
): Promise<{
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}> {
  const { transport, timeout, signal } = options;
  const { keys, headers: own } = message.secrets();
  const signed = await signedHeaders(message, keys, options);
  const response = await transport.stream({
    method: "POST",
    url: new URL(message.url),
    headers: Object.entries({ ...own, ...signed }).flat(),
    body: message.body,
    timeouts: { connect: timeout, headers: timeout, body: timeout },
    // A limit here would lose the status of a larger response.
    maxResponseSize: Number.POSITIVE_INFINITY,
    signal,
  });
  const text = await beginningOf(response.body);
  return { status: response.status, retryAfter: headerOf(response.headers, "retry-after"), text };
}

/**
 * Reads a body up to the limit, cancels the rest, and returns its beginning as one line. The status
 * counts: a body that is late, too large or broken changes nothing.
 */
async function beginningOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (text.length < maximumExcerpt) text += decoder.decode(chunk, { stream: true });
      if (size > maximumResponse) break;
    }
  } catch {
    // The part that has arrived may be useful.
  }
  const line = text.slice(0, 4 * maximumExcerpt).replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ");
  return line.trim().slice(0, maximumExcerpt);
}

function headerOf(headers: readonly string[], wanted: string): string | undefined {
  const index = headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === wanted);
  return index === -1 ? undefined : headers[index + 1];
}
