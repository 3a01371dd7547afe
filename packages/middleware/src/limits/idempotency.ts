import { deriveRequest, type Context, type Handler, type Middleware } from "@fetchwork/http";
import { authorizedUser } from "../access/basic-auth.ts";
import {
  checkAmount,
  checkFlag,
  checkFunction,
  checkHeaderName,
  checkOptions,
  checkTexts,
  optionError,
} from "../check-options.ts";
import { encodeJSON } from "../json/encode-json.ts";
import { DeadlineContext } from "./deadline-context.ts";
import type { IdempotencyRecord, IdempotencyStore } from "./idempotency-store.ts";
import { replayResponse, storeResponse } from "./stored-response.ts";
import { memoryIdempotencyStore } from "./memory-idempotency-store.ts";
import { readBody, restoreBody } from "../body/read-body.ts";
import { clientAddressReader } from "../address/client-address.ts";
import { pathAndQueryOf } from "../request/request-url.ts";
import { place } from "../order.ts";

/** Options of {@link idempotency}. */
export interface IdempotencyOptions {
  /** Stores the responses. Default: a new {@link memoryIdempotencyStore}. */
  readonly store?: IdempotencyStore | undefined;
  /** Header of the key. Default: `Idempotency-Key`. */
  readonly header?: string | undefined;
  /** Methods whose keys count. Default: `POST` and `PATCH`. */
  readonly methods?: readonly string[] | undefined;
  /** Whether a request of these methods without a key is refused with 400. Default: `false`. */
  readonly required?: boolean | undefined;
  /**
   * Identifies the sender of a request. A key is valid for its actor only, so guessing a key does
   * not reveal the response of another actor. Default: the user of `basicAuth`, else the
   * `Authorization` header, else the client's address. Set it when a cookie or a changing token
   * identifies users.
   */
  readonly actor?: ((request: Request, context: Context) => string | Promise<string>) | undefined;
  /** How long a response is stored, in milliseconds. Default: 24 hours. */
  readonly keepFor?: number | undefined;
  /**
   * Milliseconds after which a key is released whose request never ended, because its process did.
   * Must be longer than any handler takes: after it, a repetition runs again. Default: `300_000`.
   */
  readonly lockFor?: number | undefined;
  /** Maximum size of a request's body in bytes; a larger one gets 413. Default: 1 MiB. */
  readonly maxRequestBytes?: number | undefined;
  /**
   * Maximum size of a stored body in bytes. A larger response is sent, but a repetition gets 409.
   * Default: 1 MiB.
   */
  readonly maxResponseBytes?: number | undefined;
  /**
   * Whether a response is stored. If not, a repetition runs again. Default: below 500, except 408,
   * 409, 425 and 429.
   */
  readonly shouldKeep?: ((response: Response) => boolean) | undefined;
}

const retryable: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const encoder = new TextEncoder();

/**
 * Runs a request once, however often a client repeats it under one `Idempotency-Key`
 * (draft-ietf-httpapi-idempotency-key-header-07). Repetitions get the response of the first
 * request, marked with `Idempotency-Replayed: true`.
 *
 * - 409 and `Retry-After` while the first one runs;
 * - 422 for a key that came with another request: method, URL, `Content-Type` or body differ;
 * - 400 for an invalid key (not 1 to 255 visible characters, with or without quotes);
 * - 413 for a body that is too large;
 * - 503 when the store fails before the handler runs; the error goes through `context.waitUntil`.
 *
 * A handler runs to its end when the client leaves, and its response is stored: its signal does not
 * abort before. After a handler that throws, and a response that is not stored, a repetition runs
 * again. Requests without a key pass unchanged. The body of a request with a key is read before the
 * handler runs. The body of the response is read before it is sent: no client has a response that
 * is not stored. Put it inside authentication and `timeout`.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_OPTION`
 */
export function idempotency(options: IdempotencyOptions = {}): Middleware {
  checkOptions("idempotency", options, [
    "store",
    "header",
    "methods",
    "required",
    "actor",
    "keepFor",
    "lockFor",
    "maxRequestBytes",
    "maxResponseBytes",
    "shouldKeep",
  ]);
  const { methods = ["POST", "PATCH"], required = false, header = "Idempotency-Key" } = options;
  const { keepFor = 86_400_000, lockFor = 300_000 } = options;
  const { maxRequestBytes = 1_048_576, maxResponseBytes = 1_048_576 } = options;
  const { actor = defaultActor(), store = memoryIdempotencyStore() } = options;
  const { shouldKeep = ({ status }) => status < 500 && !retryable.has(status) } = options;
  checkTexts(methods, "methods");
  checkFlag(required, "required");
  if (typeof store?.begin !== "function") {
    throw optionError("store", store, "a store of idempotency");
  }
  checkHeaderName(header, "header");
  checkFunction(actor, "actor");
  checkFunction(shouldKeep, "shouldKeep");
  for (const [name, value] of Object.entries({ keepFor, lockFor })) {
    checkAmount(value, name, 1);
    if (value === Infinity) throw optionError(name, value, "milliseconds");
  }
  checkAmount(maxRequestBytes, "maxRequestBytes", 0);
  checkAmount(maxResponseBytes, "maxResponseBytes", 0);
  const counted: ReadonlySet<string> = new Set(methods);

  const run = async (
    next: Handler,
    request: Request,
    context: Context,
    name: string,
  ): Promise<Response> => {
    const read = await readBody(request, maxRequestBytes);
    if ("failure" in read) {
      return read.failure === "too large"
        ? encodeJSON(413, { error: "the body is too large" })
        : encodeJSON(400, { error: "can't read request body" });
    }
    const key = await digest(encoder.encode(`${await actor(request, context)}\0${name}`));
    const fingerprint = await fingerprintOf(request, read.bytes);
    const own = { fingerprint, owner: crypto.randomUUID() };
    let known: IdempotencyRecord | undefined;
    try {
      known = await store.begin(key, { ...own, lockFor });
    } catch (cause) {
      report(context, cause);
      return encodeJSON(503, { error: "try again later" }, { headers: { "retry-after": "5" } });
    }
    if (known !== undefined) return respondTo(known, fingerprint);

    const failed = (cause: unknown): void => report(context, cause);
    const free = (): Promise<void> => store.abandon(key, own).catch(failed);
    // The handler must not learn that the client left: failing then, it would release the key of
    // work that may go on, and the repetition would do it again.
    const lasting = new AbortController();
    const whole = deriveRequest(restoreBody(request, read.bytes), { signal: lasting.signal });
    let response: Response;
    let isKept: boolean;
    try {
      response = await next(whole, new DeadlineContext(context, lasting));
      isKept = shouldKeep(response);
    } catch (error) {
      await free();
      throw error;
    }
    if (isKept) {
      // The work is done, so a repetition must not do it again: a failure leaves the key taken.
      const kept = await storeResponse(response, maxResponseBytes);
      await store.complete(key, { ...own, response: kept.stored, keepFor }).catch(failed);
      response = kept.response;
    } else await free();
    // A response that is not stored, such as events, goes on for this client only.
    const { signal } = context;
    const follow = (): void => lasting.abort(signal.reason);
    if (signal.aborted) follow();
    else signal.addEventListener("abort", follow);
    return response;
  };

  return place("idempotency", (next) => (request, context) => {
    if (!counted.has(request.method)) return next(request, context);
    const value = request.headers.get(header);
    if (value === null) {
      return required
        ? encodeJSON(400, { error: `the ${header} header is missing` })
        : next(request, context);
    }
    const name = parseKey(value);
    if (name === undefined) return encodeJSON(400, { error: `the ${header} header is invalid` });
    return run(next, request, context, name);
  });
}

function respondTo(known: IdempotencyRecord, fingerprint: string): Response {
  if (known.fingerprint !== fingerprint) {
    return encodeJSON(422, { error: "this Idempotency-Key belongs to another request" });
  }
  if (known.response === undefined) {
    return encodeJSON(
      409,
      { error: "a request with this Idempotency-Key is running" },
      { headers: { "retry-after": "1" } },
    );
  }
  const response = replayResponse(known.response);
  if (response === undefined) {
    return encodeJSON(409, { error: "the request was done, and its response was not stored" });
  }
  response.headers.set("idempotency-replayed", "true");
  return response;
}

/** The key of a header: a string of structured fields (RFC 9651, 3.3.3), or a bare value. */
function parseKey(value: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\["\\])*)"$/.exec(value)?.[1]?.replaceAll(/\\(.)/g, "$1");
  const key = quoted ?? (value.includes('"') ? "" : value);
  return /^[!-~]{1,255}$/.test(key) ? key : undefined;
}

function defaultActor(): (request: Request, context: Context) => string {
  const readAddress = clientAddressReader({});
  return (request, context) => {
    const user = authorizedUser(context);
    if (user !== undefined) return `user ${user}`;
    const authorization = request.headers.get("authorization");
    if (authorization !== null) return `authorization ${authorization}`;
    return `address ${readAddress(request, context) ?? "unknown"}`;
  };
}

function fingerprintOf(request: Request, body: Uint8Array): Promise<string> {
  const { method, url, headers } = request;
  const type = headers.get("content-type") ?? "";
  const head = encoder.encode(`${method}\n${pathAndQueryOf(url)}\n${type}\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return digest(bytes);
}

async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function report(context: Context, cause: unknown): void {
  context.waitUntil(Promise.reject(new Error("the store of idempotency failed", { cause })));
}
