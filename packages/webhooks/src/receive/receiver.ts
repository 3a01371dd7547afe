import type { BodyBudget, Logger } from "@fetchwork/kit";
import { checkDuration, checkInteger, checkType } from "../check-options.ts";
import { bodyError, optionError, WebhookError, withEvent } from "../errors.ts";
import type { HeaderReader } from "../headers.ts";
import { completeLogger, oneLine, silent } from "../logger.ts";
import { withTimeout } from "../time-limit.ts";
import type { SignatureScheme } from "../schemes/signature-scheme.ts";
import type { Vendor } from "../vendors/define-vendor.ts";
import {
  type AcceptedDelivery,
  type DeliveryProcessor,
  signatureError,
} from "./delivery-processor.ts";
import { type BodyKind, bodyKindOf } from "../body-kind.ts";
import type { ReceiverOptions } from "./receiver-options.ts";
import {
  constantResponses,
  errorResponse,
  failureResponse,
  type ReceiverResponse,
  textResponse,
} from "./receiver-response.ts";
import { UnverifiedBody } from "./unverified-body.ts";

/** Keeps the runtime alive until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** A request at the receiver's path, of any runtime. */
interface IncomingRequest {
  readonly method: string;
  readonly url: string | undefined;
  readonly headers: HeaderReader;
  /** Reads the body, and counts its bytes before it keeps them. */
  readonly readBody: (unverified: UnverifiedBody) => Promise<Uint8Array>;
  readonly waitUntil?: WaitUntil | undefined;
}

const mediaTypeOf: Readonly<Record<BodyKind, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
};

/** Codes of failures that any sender can cause. */
const senderCodes: ReadonlySet<string> = new Set([
  "ERR_WEBHOOKS_BODY_BUDGET",
  "ERR_WEBHOOKS_BODY_SIZE",
  "ERR_WEBHOOKS_BODY_TIMEOUT",
  "ERR_WEBHOOKS_RUNNING",
  "ERR_WEBHOOKS_SIGNATURE",
]);

/** Responds to deliveries: what the middlewares of all runtimes share. */
export interface Receiver {
  /** Path without trailing slashes. */
  readonly path: string;
  readonly log: Logger;
  /** Reads, verifies and handles a delivery. Never rejects. */
  respond(request: IncomingRequest): Promise<ReceiverResponse>;
}

/** @throws WebhookUsageError `ERR_WEBHOOKS_OPTION` */
export function createReceiver(
  processor: DeliveryProcessor,
  budget: BodyBudget,
  options: ReceiverOptions,
): Receiver {
  const { vendor, dispatcher } = processor;
  const { path: wanted = vendor.path, timeout = 9_000 } = options;
  const { maxBody = 26_214_400, bodyTimeout = 10_000, exposeErrors = false } = options;
  const { contentTypes = vendor.contentTypes ?? ["json"] } = options;
  if (typeof wanted !== "string") throw optionError("path", wanted, "a path");
  checkDuration("timeout", timeout);
  checkDuration("bodyTimeout", bodyTimeout);
  checkInteger("maxBody", maxBody, 1);
  if (maxBody > budget.maximum) {
    const expected = `at most maxUnverified of Webhooks, ${budget.maximum}`;
    throw optionError("maxBody", maxBody, expected);
  }
  checkType("exposeErrors", exposeErrors, "boolean");
  const kinds = checkKinds(contentTypes);
  const path = trimSlashes(wanted.startsWith("/") ? wanted : `/${wanted}`);
  const log = options.log === undefined ? dispatcher.log : completeLogger(options.log);
  const publicUrl = checkUrl(options.url, vendor.scheme);
  const requiredHeaders = requiredHeadersOf(vendor);
  const mediaTypes = kinds.map((kind) => mediaTypeOf[kind]);
  const responses = constantResponses(mediaTypes, vendor.response);

  async function respond(request: IncomingRequest): Promise<ReceiverResponse> {
    const deadline = performance.now() + timeout;
    const kind = checkHead(request);
    if (typeof kind !== "string") return kind;
    const { headers, waitUntil } = request;
    const url = publicUrlOf(request.url);
    const unverified = new UnverifiedBody(budget, maxBody, bodyTimeout);
    let delivery: AcceptedDelivery;
    try {
      const body = await request.readBody(unverified);
      unverified.settle();
      delivery = await inTime(processor.accept({ headers, body, kind, url }), deadline);
    } catch (error) {
      return refuse(error, headers);
    } finally {
      unverified.close();
    }
    if (log.debug !== silent) {
      const { id, name } = delivery.event;
      log.debug(`${oneLine(name)} event received (id: ${oneLine(id)})`);
    }
    if (delivery.state === "duplicate") return responses.duplicate;
    if (delivery.state === "stored" && delivery.handshake === undefined) {
      return responses.acknowledged;
    }
    return handle(delivery, deadline, waitUntil);
  }

  /** Checks method and headers. Returns the kind of body, or a response when none need be read. */
  function checkHead({ method, headers }: IncomingRequest): ReceiverResponse | BodyKind {
    if (method !== "POST") return errorResponse(404, `Unknown route: ${method} ${path}`);
    const kind = bodyKindOf(headers.get("content-type"));
    if (kind === undefined || !kinds.includes(kind)) return responses.unsupported;
    const missing = requiredHeaders.filter((name) => headers.get(name) === null);
    if (missing.length > 0) {
      const accept = mediaTypes.join(", ");
      return errorResponse(400, `Required headers missing: ${missing.join(", ")}`, { accept });
    }
    const fault = vendor.scheme.checkHeaders(headers);
    if (fault !== undefined) {
      // Making an error costs more than the rest of this refusal.
      if (dispatcher.hasErrorListeners) {
        dispatcher.report(signatureError(fault, processor.namesOf(headers)));
      }
      return responses[fault];
    }
    if (Number(headers.get("content-length") ?? 0) > maxBody) {
      return refuse(bodyError("ERR_WEBHOOKS_BODY_SIZE"), headers);
    }
    return kind;
  }

  /** The URL that the sender has, which is the one that it signs. */
  function publicUrlOf(url = ""): string {
    const query = url.indexOf("?");
    if (publicUrl === undefined) return url;
    return query === -1 ? publicUrl : publicUrl + url.slice(query);
  }

  /** Waits for secrets and replay store until the deadline. Releases late claims. */
  function inTime(
    accepting: Promise<AcceptedDelivery>,
    deadline: number,
  ): Promise<AcceptedDelivery> {
    return withTimeout(accepting, timeLeft(deadline), () => {
      accepting.then(
        ({ mark }) => mark?.release(),
        (error: unknown) => processor.report(error),
      );
      const message = "finding the secret or asking the replay store took too long";
      throw new WebhookError("ERR_WEBHOOKS_TIMEOUT", message, { status: 503 });
    });
  }

  /** Runs the handlers; responds when they are done, or at the deadline. */
  function handle(
    delivery: AcceptedDelivery,
    deadline: number,
    waitUntil: WaitUntil | undefined,
  ): Promise<ReceiverResponse> {
    const { handshake } = delivery;
    const ok = handshake === undefined ? responses.ok : textResponse(200, handshake);
    // A failure of handlers is the response, even when the replay store never settles.
    let failure: ReceiverResponse | undefined;
    const running = processor.run(delivery, (error) => {
      failure = fail(error);
    });
    const done = running.then(
      () => ok,
      (error: unknown) => failure ?? fail(error),
    );
    return withTimeout(done, timeLeft(deadline), () => {
      waitUntil?.(done);
      return failure ?? responses.pending;
    });
  }

  /** Reports a delivery that could not be read or accepted, and makes its response. */
  function refuse(error: unknown, headers: HeaderReader): ReceiverResponse {
    const isAnonymous = error instanceof WebhookError && error.event === undefined;
    const failure = isAnonymous ? withEvent(error, processor.namesOf(headers)) : error;
    return fail(processor.report(failure));
  }

  /** Logs a failure and makes its response. Failures that any sender can cause get one line. */
  function fail(error: unknown): ReceiverResponse {
    if (error instanceof WebhookError && (senderCodes.has(error.code) || isDisconnect(error))) {
      log.warn(error.message);
    } else {
      log.error(error);
    }
    return failureResponse(error, { exposeErrors });
  }

  return { path, log, respond };
}

/** Returns whether the client left before its body had ended. */
function isDisconnect({ code, cause }: WebhookError): boolean {
  if (code !== "ERR_WEBHOOKS_BODY" || !(cause instanceof Error)) return false;
  return cause.name === "AbortError" || ("code" in cause && cause.code === "ECONNRESET");
}

/** Removes trailing slashes. */
export function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === 0x2f) end -= 1;
  return end === path.length ? path : path.slice(0, end);
}

function checkUrl(url: unknown, { name, signsUrl }: SignatureScheme): string | undefined {
  if (url === undefined && signsUrl !== true) return undefined;
  if (typeof url === "string" && /^https?:\/\/[^?#\s]+$/.test(url) && URL.canParse(url)) return url;
  const reason = signsUrl === true ? `, which is signed (${name})` : "";
  throw optionError("url", url, `the public URL of the receiver without a query${reason}`);
}

function timeLeft(deadline: number): number {
  return Math.max(0, deadline - performance.now());
}

function checkKinds(kinds: unknown): readonly BodyKind[] {
  if (Array.isArray(kinds) && kinds.length > 0 && kinds.every(isKind)) return [...kinds];
  throw optionError("contentTypes", typeof kinds, 'a list of "json" and "form"');
}

function isKind(kind: unknown): kind is BodyKind {
  return kind === "json" || kind === "form";
}

function requiredHeadersOf({ eventHeader, deliveryHeader, scheme }: Vendor): readonly string[] {
  const names = [eventHeader, ...scheme.requiredHeaders, deliveryHeader];
  return [...new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()])))];
}
