import type { RequestObject } from "./request/build-request-object.ts";
import { hasHeader } from "./request/header-values.ts";
import type { SendOptions } from "./send-options.ts";
import type { PhaseTimeouts, TransportRequest } from "./transport/transport.ts";

/** Limits that an exchange needs in addition to its request. */
export interface ExchangeLimits extends Pick<SendOptions, "signal"> {
  readonly timeouts: PhaseTimeouts;
  readonly maxResponseSize: number;
}

/** Makes one exchange of a request; each call makes a fresh stream of a blob. */
export function transportRequest(
  { method, url, headers, body }: RequestObject,
  limits: ExchangeLimits,
): TransportRequest {
  const { timeouts, maxResponseSize, signal } = limits;
  const isBlob = body instanceof Blob;
  return {
    method,
    url,
    headers:
      isBlob && !hasHeader(headers, "content-length")
        ? [...headers, "content-length", String(body.size)]
        : headers,
    body: isBlob ? body.stream() : body,
    timeouts,
    maxResponseSize,
    signal,
  };
}
