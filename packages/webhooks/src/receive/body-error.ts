import { WebhookError, type WebhookErrorCode } from "../errors.ts";

type BodyErrorCode = Extract<WebhookErrorCode, `ERR_WEBHOOKS_BODY${string}`>;

const statuses: Readonly<Record<BodyErrorCode, number>> = {
  ERR_WEBHOOKS_BODY: 400,
  ERR_WEBHOOKS_BODY_BUDGET: 503,
  ERR_WEBHOOKS_BODY_SIZE: 413,
  ERR_WEBHOOKS_BODY_TIMEOUT: 408,
  ERR_WEBHOOKS_BODY_USED: 500,
};

const messages: Readonly<Record<BodyErrorCode, string>> = {
  ERR_WEBHOOKS_BODY: "the request broke off",
  ERR_WEBHOOKS_BODY_BUDGET: "too many bytes wait for verification",
  ERR_WEBHOOKS_BODY_SIZE: "the body is too large",
  ERR_WEBHOOKS_BODY_TIMEOUT: "the body took too long",
  ERR_WEBHOOKS_BODY_USED:
    "the body was read before; put the receiver before body parsers, or keep the bytes in request.rawBody",
};

/** How much of a body is read. */
export interface BodyLimits {
  /** Bytes. */
  readonly maxBody: number;
  /** Milliseconds, or `Infinity`. */
  readonly timeout: number;
}

/** The error for a body that cannot be read. */
export function bodyError(code: BodyErrorCode, cause?: unknown): WebhookError {
  return new WebhookError(code, messages[code], {
    status: statuses[code],
    ...(cause === undefined ? {} : { cause }),
  });
}
