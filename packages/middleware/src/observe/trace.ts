import {
  deriveRequest,
  nativeRequest,
  setDefault,
  type Context,
  type Middleware,
} from "@fetchwork/http";
import { changeResult } from "@fetchwork/http/responses";
import { checkFlag, checkFunction, checkHeaderName, checkOptions } from "../check-options.ts";
import { acceptedIdentifier } from "../request/request-identifier.ts";

/** Options of {@link trace}. */
export interface TraceOptions {
  /** Header of the identifier, in requests and responses. Default: `X-Request-ID`. */
  readonly header?: string | undefined;
  /**
   * Takes the identifier of the request, if it has an acceptable one. With false every request gets
   * a new one, so that nobody outside chooses what is in the logs. Default: `true`.
   */
  readonly trust?: boolean | undefined;
  /** Makes an identifier. Default: 40 hexadecimal digits, cryptographically random. */
  readonly generate?: (() => string) | undefined;
  /**
   * Sends the identifier with the request too: for a client, around a `fetch`. A context that has
   * an identifier passes it on. Default: `false`.
   */
  readonly forward?: boolean | undefined;
}

/**
 * Adds an identifier to every exchange: that of its `X-Request-ID` or a new one. It is in
 * `context.requestId` for the handler and the log, and in the response, unless the handler set that
 * header.
 *
 * An identifier of the request counts when it has 1 to 255 letters, digits and `_ - = . : + / @ ~`;
 * everything else is replaced by a new one. It identifies, and proves nothing: a client may send
 * that of another request.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function trace(options: TraceOptions = {}): Middleware {
  checkOptions("trace", options, ["header", "trust", "generate", "forward"]);
  const {
    header = "X-Request-ID",
    trust = true,
    generate = randomHex(20),
    forward = false,
  } = options;
  checkHeaderName(header, "header");
  checkFlag(trust, "trust");
  checkFlag(forward, "forward");
  checkFunction(generate, "generate");
  const name = header.toLowerCase();

  return (next) => (request, context) => {
    let { requestId } = context;
    if (requestId === undefined) {
      requestId = (trust ? acceptedIdentifier(request.headers.get(name)) : undefined) ?? generate();
      context.requestId = requestId;
    }
    const id = requestId;
    const change = (headers: Headers): void => setDefault(headers, name, id);
    const sent = forward
      ? nativeRequest(deriveRequest(request, { headers: { [name]: id } }))
      : request;
    return changeResult(next(sent, context), context, change);
  };
}

/** Identifier that {@link trace} has set for an exchange; empty without one. */
export function getTraceID(context: Context): string {
  return context.requestId ?? "";
}

const digits: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/**
 * Makes a source of random hexadecimal text of `length` bytes, two digits each. Asks the runtime
 * for the bytes of many texts at once, because a call costs more than the bytes.
 */
function randomHex(length: number): () => string {
  const pool = new Uint8Array(length * 200);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      crypto.getRandomValues(pool);
      used = 0;
    }
    const end = used + length;
    let hex = "";
    for (; used < end; used += 1) hex += digits[pool[used] ?? 0];
    return hex;
  };
}
