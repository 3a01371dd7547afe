import type { Context, FinishReport, Middleware } from "@fetchwork/http";
import { formatIP, networkAddress } from "@fetchwork/kit";
import { captureBody, type CapturedBody } from "./capture-body.ts";
import {
  checkAmount,
  checkFlag,
  checkFunction,
  checkOptions,
  checkTexts,
  optionError,
} from "../check-options.ts";
import {
  formatCombined,
  formatJSON,
  formatSpec,
  type LogFormatter,
  type LogRecord,
} from "./log-record.ts";
import { batchLines, writeToConsole, type LogSink } from "../log/log-sink.ts";
import { queryMasker } from "../log/mask-query.ts";
import { readClientAddress } from "../address/client-address.ts";
import { parsePeer } from "../address/peer-address.ts";
import { acceptedIdentifier } from "../request/request-identifier.ts";
import { pathAndQueryOf } from "../request/request-url.ts";
import { place } from "../order.ts";

export { formatSpec, type LogRecord } from "./log-record.ts";

/** Finds a field of the log for an exchange, after its end. */
type LogField = (request: Request, context: Context) => string | undefined;

/** How bodies are logged. */
interface LoggerBodyOptions {
  /** Maximum number of bytes of a body that are logged. Default: `1024`. */
  readonly maxSize?: number | undefined;
  /**
   * Changes what is logged, for example to mask secrets; `truncated` is true when the body was
   * longer than `maxSize`. Not called for an empty body. Default: the body, with `...` after it
   * when it was cut.
   */
  readonly transform?: ((body: string, truncated: boolean) => string) | undefined;
}

/** Options of {@link logger}. */
export interface LoggerOptions {
  /** Text before the method. Default: none. */
  readonly prefix?: string | undefined;
  /**
   * `spec`: `<timestamp> [<level>] <method> - <path?query> - <request-id> - <status> (<size>) -
   * <duration>` and what else is logged; `combined`: Apache's; `json`: one object per line, the one
   * to parse; or a function, whose line breaks and controls are its own business. Default: `spec`.
   */
  readonly format?: "spec" | "combined" | "json" | LogFormatter | undefined;
  /**
   * Logs the start of request bodies, as the handler reads them. Bodies hold passwords and personal
   * data: see `transform`. Default: `false`.
   */
  readonly body?: boolean | LoggerBodyOptions | undefined;
  /**
   * Logs the client's address, as {@link getRealIP} finds it: true as it is, or what the function
   * makes of it, such as {@link anonymizeIP}. Without `trustedProxies` of `realIp`, clients choose
   * it. Default: `false` for `spec`, `true` for the others.
   */
  readonly ip?: boolean | ((ip: string) => string) | undefined;
  /** Finds the user's name. Default: none is logged. */
  readonly user?: LogField | undefined;
  /** Finds what the request is about. Default: none is logged. */
  readonly subject?: LogField | undefined;
  /**
   * Names of more query parameters whose values are masked, without regard to case. Default: none
   * but those that {@link queryMasker} always masks: passwords, tokens, keys, signatures, sessions,
   * one-time codes.
   */
  readonly maskedKeys?: readonly string[] | undefined;
  /** Receives lines, those of a turn of the event loop together. Default: the standard output. */
  readonly sink?: LogSink | undefined;
  /** Receives each record at once instead of a line, for a logging library. Default: none. */
  readonly backend?: ((record: LogRecord) => void) | undefined;
}

/**
 * Logs every exchange once, after the last byte of its response or when it breaks off. The status,
 * the bytes and the time are the real ones. Around a `fetch` it logs a client's exchanges when
 * their bodies have been read.
 *
 * The URL stays percent-encoded, so that no decoded space or line break forges a field or a line;
 * secret values of its query are masked. The identifier is that of `trace`, or without it the
 * request's `X-Request-ID`, if `trace` would take it. Controls in other fields are escaped. Lines
 * that `process.exit()` cuts off are not written.
 *
 * @example
 * ```ts
 * wrap(handler, logger({ format: "json", ip: anonymizeIP }));
 * wrap(handler, logger({ backend: ({ method, url, status }) => pino.info({ method, url, status }) }));
 * ```
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function logger(options: LoggerOptions = {}): Middleware {
  checkOptions("logger", options, [
    "prefix",
    "format",
    "body",
    "ip",
    "user",
    "subject",
    "maskedKeys",
    "sink",
    "backend",
  ]);
  const body = readBodyOptions(options.body);
  const log = exchangeLogger(options, body?.transform);
  if (body === undefined) {
    return place("logger", (next) => (request, context) => {
      context.onFinish((report) => log(request, context, report));
      return next(request, context);
    });
  }
  return place("logger", (next) => (request, context) => {
    const captured = captureBody(request, context, body.maxSize);
    context.onFinish((report) => log(request, context, report, captured));
    return next(captured?.request ?? request, context);
  });
}

/** Logs the end of an exchange; returns the backend's result, which may reject. */
type ExchangeLogger = (
  request: Request,
  context: Context,
  report: FinishReport,
  captured?: CapturedBody,
) => unknown;

const formatters = { spec: formatSpec, combined: formatCombined, json: formatJSON };

function exchangeLogger(
  options: LoggerOptions,
  transformBody: LoggedBody["transform"] = markCut,
): ExchangeLogger {
  const { prefix, format = "spec", maskedKeys = [], user, subject } = options;
  const { ip = format !== "spec", sink = writeToConsole, backend } = options;
  if (typeof format !== "function" && !Object.hasOwn(formatters, format))
    throw optionError("format", format, "spec, combined, json or a function");
  const formatter = typeof format === "function" ? format : formatters[format];
  for (const [name, value] of Object.entries({ user, subject, sink, backend })) {
    if (value !== undefined) checkFunction(value, name);
  }
  if (backend !== undefined && (options.sink !== undefined || options.format !== undefined)) {
    throw optionError("backend", backend, "either a backend or a sink and a format");
  }
  if (typeof ip !== "boolean") checkFunction(ip, "ip");
  if (prefix !== undefined) checkTexts([prefix], "prefix");
  checkTexts(maskedKeys, "maskedKeys");
  const mask = queryMasker(maskedKeys);
  const readsHeaders = backend !== undefined || format !== "spec";
  const showIP = typeof ip === "function" ? ip : (address: string) => address;
  const writeLine = backend === undefined ? batchLines(sink) : undefined;

  return (request, context, report, captured) => {
    const { status, bytes, duration, aborted } = report;
    const address = ip === false ? undefined : readClientAddress(request, context);
    const referer = readsHeaders ? request.headers.get("referer") : null;
    const record: LogRecord = {
      time: new Date(),
      level: status >= 500 ? "ERROR" : "INFO",
      prefix,
      method: request.method,
      url: mask(pathAndQueryOf(request.url)),
      requestId: context.requestId ?? acceptedIdentifier(request.headers.get("x-request-id")),
      status,
      bytes,
      duration,
      aborted,
      ip: address === undefined ? undefined : showIP(address),
      user: user?.(request, context),
      subject: subject?.(request, context),
      referer: referer === null ? undefined : mask(referer),
      userAgent: readsHeaders ? (request.headers.get("user-agent") ?? undefined) : undefined,
      body: captured === undefined ? undefined : describeBody(captured, transformBody),
    };
    return backend === undefined ? writeLine?.(formatter(record)) : backend(record);
  };
}

interface LoggedBody {
  readonly maxSize: number;
  readonly transform: (body: string, truncated: boolean) => string;
}

/** How bodies are logged; undefined when they are not. */
function readBodyOptions(body: boolean | LoggerBodyOptions = false): LoggedBody | undefined {
  if (typeof body !== "object" || body === null) checkFlag(body, "body");
  else checkOptions("body of logger", body, ["maxSize", "transform"]);
  const { maxSize = 1024, transform = markCut } = typeof body === "object" ? body : {};
  checkAmount(maxSize, "body.maxSize", 0);
  checkFunction(transform, "body.transform");
  return body === false ? undefined : { maxSize, transform };
}

function describeBody(
  captured: CapturedBody,
  transform: LoggedBody["transform"],
): string | undefined {
  const { text, truncated } = captured.read();
  return text === "" ? undefined : transform(text, truncated);
}

function markCut(body: string, truncated: boolean): string {
  return truncated ? `${body}...` : body;
}

/**
 * Removes from an address what identifies one client: the last number of IPv4 (`12.34.56.78` is
 * `12.34.56.0`, also when IPv6 maps it), all but the first 48 bits of IPv6, a port and a zone. Text
 * that is not an address stays.
 */
export function anonymizeIP(ip: string): string {
  const peer = parsePeer(ip);
  if (peer === undefined) return ip;
  const { address } = peer;
  return formatIP(networkAddress(address, address.version === 4 ? 24 : 48));
}
