import { WebhookError, WebhookReceiveError } from "../errors.ts";

/** What a receiver answers. Made once where it is always the same. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. `content-length` is in it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
  /** Whether the rest of the request is not worth waiting for. */
  readonly isCut: boolean;
}

const encoder = new TextEncoder();
/** Longer messages of handlers are cut. */
const longestMessage = 1_000;
/** Of these, the rest of the body is not worth waiting for. */
const cutCodes: ReadonlySet<string> = new Set([
  "ERR_WEBHOOKS_BODY_BUDGET",
  "ERR_WEBHOOKS_BODY_SIZE",
  "ERR_WEBHOOKS_BODY_TIMEOUT",
]);
const unspecified = "Error: An Unspecified error occurred";

/** Makes an answer of plain text. */
export function textAnswer(status: number, text: string, extra: Answer["headers"] = {}): Answer {
  return makeAnswer(status, text, { "content-type": "text/plain", ...extra });
}

/** Makes an answer `{"error":"…"}`. */
export function errorAnswer(status: number, error: string, extra: Answer["headers"] = {}): Answer {
  const headers = { "content-type": "application/json", ...extra };
  return makeAnswer(status, JSON.stringify({ error }), headers);
}

/**
 * The response to a delivery that failed. What handlers threw stays inside, unless it is to be exposed: then the name and
 * message of the first one's error are in it.
 */
export function failureAnswer(
  error: unknown,
  { isExposed }: { readonly isExposed: boolean } = { isExposed: false },
): Answer {
  if (!(error instanceof WebhookError)) return errorAnswer(500, unspecified);
  if (error instanceof WebhookReceiveError) {
    const first: unknown = error.errors[0];
    const thrown = first instanceof WebhookError ? first.cause : first;
    return errorAnswer(error.status, isExposed ? describe(thrown) : unspecified);
  }
  const name = error.code === "ERR_WEBHOOKS_JSON" ? "SyntaxError" : "Error";
  const answer = errorAnswer(error.status, `${name}: ${error.message}`);
  return { ...answer, isCut: cutCodes.has(error.code) };
}

function makeAnswer(status: number, text: string, extra: Answer["headers"]): Answer {
  const body = encoder.encode(text);
  const headers = {
    ...extra,
    "content-length": String(body.length),
    "x-content-type-options": "nosniff",
  };
  return { status, headers, body, isCut: false };
}

/** What a handler threw, which may be anything, even something that throws when it is looked at. */
function describe(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error) || thrown.message === "") return unspecified;
    return `${thrown.name}: ${thrown.message}`.slice(0, longestMessage);
  } catch {
    return unspecified;
  }
}
