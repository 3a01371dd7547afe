import { exposedResponse, type Context, type Middleware } from "@fetchwork/http";
import { isBodyLimitError } from "../body/read-body.ts";
import { checkFunction, checkOptions } from "../check-options.ts";
import { AbortHandlerError } from "../errors.ts";
import { writeSafely } from "../log/log-sink.ts";
import { oneLine } from "../log/one-line.ts";
import { refuse } from "../response/plain-response.ts";
import { readClientAddress } from "../address/client-address.ts";
import { pathOf } from "../request/request-url.ts";
import { place } from "../order.ts";

/** Options of {@link recoverer}. */
export interface RecovererOptions {
  /** Receives what is logged: first what happened, then where. Default: `console.error`. */
  readonly log?: ((record: string) => void) | undefined;
  /**
   * Makes the response to an error that does not ask for a response itself. Default: 500 `Internal
   * Server Error`, as plain text.
   */
  readonly respond?: ((error: unknown, request: Request, context: Context) => Response) | undefined;
}

/** A handler throws it to close the connection without a response and without a record. */
export const ABORT_HANDLER: AbortHandlerError = new AbortHandlerError();

/**
 * Responds with 500 when the handler throws or rejects, and logs two records: `request panic for
 * <path> from <address>, <message>`, and the stack. The client learns nothing of either.
 *
 * An error that asks to be a response (a status and `expose: true`: a {@link RequestError} of
 * `decodeJSON`, or one of your own) becomes it, as in `exposedResponse` of `@fetchwork/http`, and
 * nothing is logged. The error of a client that has a `status` does not ask for one: it is a 500.
 *
 * Three errors pass untouched, because the server knows better: an {@link AbortHandlerError}, a
 * body over the server's limit (413), and an abort when the client has gone. Nothing in a record
 * can forge another record: line breaks in what a client sent become spaces, and lines of a stack
 * are indented.
 *
 * The server reports failures after the head, in the stream of the body.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function recoverer(options: RecovererOptions = {}): Middleware {
  checkOptions("recoverer", options, ["log", "respond"]);
  const { log = console.error, respond = internalServerError } = options;
  checkFunction(log, "log");
  checkFunction(respond, "respond");
  const recover = (error: unknown, request: Request, context: Context): Response => {
    const exposed = exposedResponse(error);
    if (exposed !== undefined) return exposed;
    if (isServers(error, context)) throw error;
    for (const record of describe(error, request, context)) {
      writeSafely(() => log(record));
    }
    return respond(error, request, context);
  };
  return place("recoverer", (next) => (request, context) => {
    try {
      const result = next(request, context);
      return result instanceof Promise
        ? result.catch((error: unknown) => recover(error, request, context))
        : result;
    } catch (error) {
      return recover(error, request, context);
    }
  });
}

function internalServerError(): Response {
  return refuse(500, "Internal Server Error");
}

function isServers(error: unknown, context: Context): boolean {
  try {
    if (error instanceof AbortHandlerError || isBodyLimitError(error)) return true;
    if (!(error instanceof Error) || !context.signal.aborted) return false;
    // Node's reason for a client that has left has no distinct name.
    return error.name === "AbortError" || error === context.signal.reason;
  } catch {
    // An error whose members cannot be read is a handler's.
    return false;
  }
}

function describe(error: unknown, request: Request, context: Context): readonly string[] {
  const message = read(() => String(error instanceof Error ? error.message : error));
  const where = `request panic for ${pathOf(request.url)} from ${readClientAddress(request, context) ?? "unknown"}, ${message ?? "something without a text"}`;
  const stack = read(() => (error instanceof Error ? error.stack : undefined));
  if (typeof stack !== "string") return [oneLine(where)];
  const lines = stack.split("\n").map((line) => `    ${oneLine(line.trim())}`);
  return [oneLine(where), lines.join("\n")];
}

/** Anything can be thrown, also what throws when it is looked at. */
function read<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
