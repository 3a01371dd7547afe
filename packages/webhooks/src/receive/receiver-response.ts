import { WebhookError, WebhookReceiveError } from "../errors.ts";
import type { SignatureFault } from "../schemes/signature-scheme.ts";
import { signatureError } from "./delivery-processor.ts";

/** A response of a receiver, for any runtime. */
export interface ReceiverResponse {
  readonly status: number;
  /** Names in lower case, `content-length` included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether the rest of the request body is discarded. */
  readonly discardsBody: boolean;
}

const encoder = new TextEncoder();
/** Longer messages of handlers' errors are truncated. */
const maxMessageLength = 1_000;
const discardingCodes: ReadonlySet<string> = new Set([
  "ERR_WEBHOOKS_BODY_BUDGET",
  "ERR_WEBHOOKS_BODY_SIZE",
  "ERR_WEBHOOKS_BODY_TIMEOUT",
]);
const unspecified = "Error: An Unspecified error occurred";

/** Makes a plain text response. */
export function textResponse(
  status: number,
  text: string,
  extra: ReceiverResponse["headers"] = {},
): ReceiverResponse {
  return makeResponse(status, text, { "content-type": "text/plain", ...extra });
}

/** Makes a response `{"error":"…"}`. */
export function errorResponse(
  status: number,
  error: string,
  extra: ReceiverResponse["headers"] = {},
): ReceiverResponse {
  const headers = { "content-type": "application/json", ...extra };
  return makeResponse(status, JSON.stringify({ error }), headers);
}

/**
 * Makes the response to a delivery that failed.
 *
 * @param options.exposeErrors - Whether the response contains name and message of the first error
 * that a handler threw.
 */
export function failureResponse(
  error: unknown,
  options: { readonly exposeErrors: boolean } = { exposeErrors: false },
): ReceiverResponse {
  if (!(error instanceof WebhookError)) return errorResponse(500, unspecified);
  if (error instanceof WebhookReceiveError) {
    const first: unknown = error.errors[0];
    const thrown = first instanceof WebhookError ? first.cause : first;
    return errorResponse(error.status, options.exposeErrors ? describe(thrown) : unspecified);
  }
  const extra: ReceiverResponse["headers"] =
    error.code === "ERR_WEBHOOKS_BODY_BUDGET" ? { "retry-after": "1" } : {};
  const response = errorResponse(error.status, plainMessage(error), extra);
  return { ...response, discardsBody: discardingCodes.has(error.code) };
}

/** Makes the message for the sender, who does not know the package. */
function plainMessage({ code, message }: WebhookError): string {
  const plain = message.replace(/^\[@fetchwork\/webhooks\] /, "");
  return code === "ERR_WEBHOOKS_JSON" ? `SyntaxError: ${plain}` : plain;
}

/** Responses of a receiver that are always the same, by what happened. */
type ConstantResponses = Readonly<
  Record<
    "ok" | "pending" | "acknowledged" | "duplicate" | "unsupported" | SignatureFault,
    ReceiverResponse
  >
>;

/** Makes the responses of a receiver for these media types, with its own content for success. */
export function constantResponses(
  mediaTypes: readonly string[],
  success?: { readonly contentType: string; readonly body: string },
): ConstantResponses {
  const accept = { accept: mediaTypes.join(", ") };
  const wanted = mediaTypes.map((type) => `"${type}"`).join(" or ");
  const unsupported = `Unsupported "Content-Type" header value. Must be ${wanted}`;
  const names = { id: "", name: "" };
  const accepted = (status: number, text: string): ReceiverResponse =>
    success === undefined
      ? textResponse(status, text, accept)
      : textResponse(status, success.body, { "content-type": success.contentType, ...accept });
  return {
    ok: accepted(200, "ok\n"),
    pending: accepted(202, "still processing\n"),
    acknowledged: accepted(202, "accepted\n"),
    duplicate: accepted(200, "handled before\n"),
    unsupported: errorResponse(415, unsupported, accept),
    signature: failureResponse(signatureError("signature", names)),
    timestamp: failureResponse(signatureError("timestamp", names)),
  };
}

function makeResponse(
  status: number,
  text: string,
  extra: ReceiverResponse["headers"],
): ReceiverResponse {
  const body = encoder.encode(text);
  const headers = {
    ...extra,
    "content-length": String(body.length),
    "x-content-type-options": "nosniff",
  };
  return { status, headers, body, discardsBody: false };
}

/** Describes a thrown value, which may throw itself when it is read. */
function describe(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error) || thrown.message === "") return unspecified;
    return `${thrown.name}: ${thrown.message}`.slice(0, maxMessageLength);
  } catch {
    return unspecified;
  }
}
