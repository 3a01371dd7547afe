import { ConnectionError, type ConnectionFailure, HttpError } from "@fetchwork/http";
import { WebhookUsageError } from "../../../errors.ts";

/** Why an attempt has no response. */
export interface FailureReason {
  /** Stable; `ERR_HTTP_TIMEOUT`, `ERR_WEBHOOKS_TARGET`, … */
  readonly code: string;
  /** For people. Has no address and no secret. */
  readonly reason: string;
}

const byCode: Readonly<Record<string, string>> = {
  ERR_HTTP_TIMEOUT: "the endpoint did not respond in time",
  ERR_HTTP_PROTOCOL: "the endpoint sent no valid response",
  ERR_HTTP_TOO_LARGE: "the endpoint sent no valid response",
  ERR_WEBHOOKS_TARGET: "the endpoint has an address that is not public",
  ERR_WEBHOOKS_SECRET: "the secret of the endpoint cannot be read",
};

const byConnection: Readonly<Record<ConnectionFailure, string>> = {
  dns: "the name of the endpoint cannot be resolved",
  other: "the endpoint could not be connected",
  proxy: "the proxy did not connect to the endpoint",
  refused: "the endpoint refused the connection",
  reset: "the endpoint ended the connection",
  tls: "there is no secure connection to the endpoint",
  unreachable: "the endpoint cannot be reached",
};

/** The reason of an attempt that took too long. */
export const timeoutReason: FailureReason = reasonOfCode("ERR_HTTP_TIMEOUT");

/** Says why there is no response. */
export function reasonOf(error: unknown): FailureReason {
  const cause = error instanceof Error ? error.cause : undefined;
  // A refused target is the cause of the connection that was not made.
  const refusal = [cause, error].find((each) => each instanceof WebhookUsageError);
  if (refusal !== undefined) return reasonOfCode(refusal.code);
  if (error instanceof ConnectionError) {
    const certificate = error.reason === "tls" ? ` (${error.systemCode ?? "TLS"})` : "";
    return { code: error.code, reason: byConnection[error.reason] + certificate };
  }
  return reasonOfCode(error instanceof HttpError ? error.code : "ERR_WEBHOOKS_ATTEMPT");
}

/** Says what is wrong with a status. */
export function reasonOfStatus(status: number): string {
  if (status >= 300 && status < 400) return `the endpoint redirects (${status})`;
  if (status === 410) return "the endpoint wants no more deliveries (410)";
  return `the endpoint responded with ${status}`;
}

function reasonOfCode(code: string): FailureReason {
  return { code, reason: byCode[code] ?? "the request could not be sent" };
}
