import { checkOptions } from "../../check-options.ts";
import { checkFunction } from "../../exchange/check-function.ts";
import { guardedReport, logError } from "../../exchange/report-error.ts";
import type { Handler } from "../../handler.ts";
import { checkType } from "../../option-values.ts";
import { requestListener, type NodeListener } from "./request-listener.ts";
import { checkBodyLimits } from "./body-limits.ts";
import { PendingPromises } from "../exchange/pending-promises.ts";

/** Options of a handler on another server than ours. */
export interface NodeListenerOptions {
  /** Maximum size of the body of a request, in bytes; a larger one is a 413. Default: no limit. */
  readonly maxRequestBodySize?: number | undefined;
  /** `maxBodySize` of `ServeOptions`. Default: `1_048_576` (1 MiB). */
  readonly maxBodySize?: number | undefined;
  /** `maxBufferedSize` of `ServeOptions`. Default: 64 MiB, at least `maxBodySize`. */
  readonly maxBufferedSize?: number | undefined;
  /** Receives errors of the handler, bodies and promises. Default: `console.error`. */
  readonly reportError?: ((error: unknown) => void) | undefined;
}

/**
 * Makes a handler a listener for `http.createServer`, or the last handler of an Express
 * application.
 *
 * Headers that were set before stay, unless the response has them. Under a mount path of Express,
 * the request has the rest of the URL. A body that a parser has read before cannot be read again:
 * `ERR_HTTP_BODY_USED`.
 *
 * @example
 * ```ts
 * const app = express();
 * app.use(toNodeListener(handler));
 * ```
 * @throws HttpUsageError `ERR_HTTP_HANDLER` or `ERR_HTTP_OPTION`
 */
export function toNodeListener(handler: Handler, options: NodeListenerOptions = {}): NodeListener {
  checkOptions<NodeListenerOptions>("toNodeListener", options, [
    "maxRequestBodySize",
    "maxBodySize",
    "maxBufferedSize",
    "reportError",
  ]);
  checkType(options.reportError, "reportError", "function");
  const reportError = guardedReport(options.reportError ?? logError);
  checkFunction(handler, "handler");
  const limits = checkBodyLimits(options);
  return requestListener(handler, {
    ...limits,
    maxHeaderSize: undefined,
    isBehindOthers: true,
    reportError,
    pending: new PendingPromises(reportError),
    isClosing: false,
  });
}
