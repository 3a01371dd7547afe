import type { RequestObject } from "./build-request-object.ts";
import type { EncodedBody } from "./encode-body.ts";
import { hasHeader } from "./header-values.ts";
import type { SendOptions } from "./send-options.ts";
import type { PhaseTimeouts, TransportRequest } from "./transport.ts";

/** What an exchange needs beside its request. */
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
    onUpload: onUploadProgress === undefined ? undefined : uploadListener(onUploadProgress, body),
    onDownload:
      onDownloadProgress === undefined
        ? undefined
        : (bytes, total) => onDownloadProgress({ bytes, total }),
  };
}

function uploadListener(
  listener: NonNullable<SendOptions["onUploadProgress"]>,
  body: EncodedBody | undefined,
): (sent: number) => void {
  const total = lengthOf(body);
  return (bytes) => listener({ bytes, total });
}

function lengthOf(body: EncodedBody | undefined): number | undefined {
  if (typeof body === "string") return new TextEncoder().encode(body).byteLength;
  if (body instanceof Uint8Array) return body.byteLength;
  return body instanceof Blob ? body.size : undefined;
}
