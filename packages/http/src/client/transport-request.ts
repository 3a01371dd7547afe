import type { RequestObject } from "./request/build-request-object.ts";
import type { EncodedBody } from "./request/encode-body.ts";
import { hasHeader } from "./request/header-values.ts";
import { redactUrl } from "./transport/redact-url.ts";
import type { Progress, SendOptions } from "./send-options.ts";
import { AbortError } from "./transport/transport-errors.ts";
import type { PhaseTimeouts, TransportRequest } from "./transport/transport.ts";

/** What an exchange needs in addition to its request. */
export interface ExchangeLimits extends Pick<
  SendOptions,
  "signal" | "onUploadProgress" | "onDownloadProgress"
> {
  readonly timeouts: PhaseTimeouts;
  readonly maxResponseSize: number;
}

/** Makes one exchange of a request; each call makes a fresh stream of a blob. */
export function transportRequest(
  { method, url, headers, body }: RequestObject,
  limits: ExchangeLimits,
): TransportRequest {
  const { timeouts, maxResponseSize, signal, onUploadProgress, onDownloadProgress } = limits;
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
    onUpload:
      onUploadProgress === undefined
        ? undefined
        : uploadListener(onUploadProgress, { method, url, body }),
    onDownload:
      onDownloadProgress === undefined
        ? undefined
        : (bytes, total) => {
            notify(onDownloadProgress, { bytes, total }, { method, url });
          },
  };
}

type ProgressListener = NonNullable<SendOptions["onUploadProgress"]>;
type Sent = Pick<RequestObject, "method" | "url">;

function uploadListener(
  listener: ProgressListener,
  request: Sent & Pick<RequestObject, "body">,
): (sent: number) => void {
  const total = lengthOf(request.body);
  return (bytes) => notify(listener, { bytes, total }, request);
}

/** What a listener throws ends the request by its caller's will, and is not the connection's fault. */
function notify(listener: ProgressListener, progress: Progress, { method, url }: Sent): void {
  try {
    listener(progress);
  } catch (cause) {
    throw new AbortError({ method, url: redactUrl(url), cause });
  }
}

function lengthOf(body: EncodedBody | undefined): number | undefined {
  if (typeof body === "string") return new TextEncoder().encode(body).byteLength;
  if (body instanceof Uint8Array) return body.byteLength;
  return body instanceof Blob ? body.size : undefined;
}
