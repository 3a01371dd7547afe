import { HttpError, type Transport } from "@fetchwork/http";
import { parseRetryAfter } from "@fetchwork/kit";
import { WebhookUsageError } from "../../errors.ts";
import type { SignatureKey } from "../../schemes/signature-scheme.ts";
import type { Vendor } from "../../vendors/define-vendor.ts";
import { checkTarget, type TargetRules } from "./target-url.ts";

/** What goes to an endpoint. */
export interface Message {
  readonly id: string;
  readonly name: string;
  readonly body: Uint8Array;
  readonly url: string;
  readonly key: SignatureKey;
}

/** How messages are sent. */
export interface AttemptOptions {
  readonly transport: Transport;
  readonly vendor: Vendor;
  readonly rules: TargetRules;
  /** Milliseconds for the whole attempt. */
  readonly timeout: number;
  readonly maxRedirects: number;
  readonly signal: AbortSignal;
}

/** Result of one attempt. */
export interface AttemptResult {
  readonly startedAt: Date;
  /** Milliseconds. */
  readonly duration: number;
  /** Status of the response. */
  readonly status?: number;
  /** Code of the error when there was no response. */
  readonly error?: string;
  /** Whether the time was over before the response had ended; a response whose head arrived has its status all the same. */
  readonly timedOut: boolean;
  /** Milliseconds that the server asked to wait. */
  readonly retryAfter?: number | undefined;
}

/** The version of this package, part of the `user-agent`. */
const version = "0.1.0";
/** Bytes of a response that are read, so that its connection can be used again; the connection of a longer one is closed. */
const maximumResponse = 16_384;

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
  try {
    const headers = await messageHeaders(message, { ...options, startedAt });
    const { status, retryAfter } = await post(message, headers, { ...options, signal });
    const wait = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter);
    const timedOut = late.signal.aborted;
    const duration = performance.now() - begun;
    return { startedAt, duration, status, timedOut, retryAfter: wait };
  } catch (error) {
    const code = late.signal.aborted ? "ERR_HTTP_TIMEOUT" : codeOf(error);
    const timedOut = code === "ERR_HTTP_TIMEOUT";
    return { startedAt, duration: performance.now() - begun, error: code, timedOut };
  } finally {
    clearTimeout(timer);
  }
}

async function messageHeaders(
  { id, name, body, key }: Message,
  { vendor, startedAt }: AttemptOptions & { readonly startedAt: Date },
): Promise<readonly string[]> {
  const timestamp = Math.floor(startedAt.getTime() / 1000);
  const signature = await key.sign({ id, timestamp, body });
  const headers: string[] = [
    "content-type",
    vendor.contentType ?? "application/json",
    "user-agent",
    `fetchwork-webhooks/${version}`,
  ];
  if (vendor.eventHeader !== undefined) headers.push(vendor.eventHeader.toLowerCase(), name);
  // Some schemes sign the identifier and send it in the same header.
  const idHeader = vendor.deliveryHeader?.toLowerCase();
  if (idHeader !== undefined && !(idHeader in signature)) headers.push(idHeader, id);
  return [...headers, ...Object.entries(signature).flat()];
}

async function post(
  { url: first, body }: Message,
  headers: readonly string[],
  { transport, vendor, rules, maxRedirects, timeout, signal }: AttemptOptions,
): Promise<{ readonly status: number; readonly retryAfter: string | undefined }> {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await transport.stream({
      method: "POST",
      url: new URL(url),
      headers,
      body,
      timeouts: { connect: timeout, headers: timeout, body: timeout },
      // A limit here would lose the status of a larger response.
      maxResponseSize: Number.POSITIVE_INFINITY,
      signal,
    });
    const { status } = response;
    // The status counts; a body that is late, too large or broken changes nothing.
    await drain(response.body).catch(() => undefined);
    const location = headerOf(response.headers, "location");
    const isMoved = (status === 307 || status === 308) && location !== undefined;
    if (!isMoved || redirects === maxRedirects || !URL.canParse(location, url)) {
      return { status, retryAfter: headerOf(response.headers, "retry-after") };
    }
    const target = checkTarget(new URL(location, url).href, rules);
    if (vendor.scheme.carriesSecret === true && new URL(target).origin !== new URL(url).origin) {
      throw new WebhookUsageError(
        "ERR_WEBHOOKS_TARGET",
        "a redirect to another origin would disclose the secret",
      );
    }
    url = target;
  }
}

/** Reads a body up to the limit, and cancels the rest. */
async function drain(body: ReadableStream<Uint8Array>): Promise<void> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maximumResponse) return;
  }
}

function headerOf(headers: readonly string[], wanted: string): string | undefined {
  const index = headers.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === wanted);
  return index === -1 ? undefined : headers[index + 1];
}

/** The code of an error; that of a refused target stands behind the connection that was not made. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  for (const candidate of [cause, error]) {
    const isOurs = candidate instanceof WebhookUsageError || candidate instanceof HttpError;
    if (isOurs) return candidate.code;
  }
  return "ERR_WEBHOOKS_ATTEMPT";
}
