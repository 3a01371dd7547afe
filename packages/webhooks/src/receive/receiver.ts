import { type Answer, errorAnswer, failureAnswer, textAnswer } from "./receiver-response.ts";
import { bodyError, type BodyLimits } from "./body-error.ts";
import { checkAmount, checkDuration } from "../check-amount.ts";
import { kindOf } from "./content-kind.ts";
import {
  type DeliveryPipeline,
  oneLine,
  type RawDelivery,
  signatureError,
  type VerifiedDelivery,
} from "./delivery-processor.ts";
import { optionError, WebhookError } from "../errors.ts";
import { completeLogger, type Logger, silent } from "../logger.ts";
import type { ReceiverOptions } from "./receiver-options.ts";
import type { HeaderReader, MaybePromise } from "../schemes/signature-scheme.ts";
import { chain, isThenable } from "../thenable.ts";
import type { UnverifiedBody } from "./unverified-budget.ts";
import type { BodyKind } from "../vendors/define-vendor.ts";

/** Keeps the runtime alive until a promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/** A request whose head was checked. */
export interface Incoming extends Pick<RawDelivery, "headers" | "kind" | "url"> {
  /** Reads the body. */
  readonly read: (
    limits: BodyLimits,
    unverified: UnverifiedBody,
  ) => MaybePromise<RawDelivery["body"]>;
  /** When it arrived; milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly waitUntil: WaitUntil | undefined;
}

/** What Node's and the web's middleware have in common: everything but how a body is read and a response is sent. */
export class Receiver {
  /** Path without slashes at its end. */
  readonly path: string;
  readonly limits: BodyLimits;
  readonly log: Logger;
  readonly #pipeline: DeliveryPipeline;
  readonly #timeout: number;
  readonly #isAck: boolean;
  readonly #isExposed: boolean;
  readonly #kinds: readonly BodyKind[];
  readonly #required: readonly string[];
  readonly #accept: Readonly<Record<string, string>>;
  readonly #ok: Answer;
  readonly #pending: Answer;
  readonly #acknowledged: Answer;
  readonly #repeated: Answer;
  readonly #unsupported: Answer;
  readonly #impossible: Readonly<Record<"signature" | "timestamp", Answer>>;

  /** @throws WebhookUsageError `ERR_WEBHOOKS_OPTION` */
  constructor(pipeline: DeliveryPipeline, options: ReceiverOptions) {
    const { vendor, dispatcher } = pipeline;
    const { path = vendor.path, timeout = 9_000, mode = "await", log } = options;
    const { maxBody = 26_214_400, bodyTimeout = 10_000, exposeErrors = false } = options;
    const { contentTypes = vendor.contentTypes ?? ["json"] } = options;
    if (typeof path !== "string") throw optionError("path", path, "a path");
    checkDuration("timeout", timeout);
    checkDuration("bodyTimeout", bodyTimeout);
    checkAmount("maxBody", maxBody, 1);
    const { maximum } = pipeline.budget;
    if (maxBody > maximum) {
      const expected = `at most maxUnverified of Webhooks, ${maximum}`;
      throw optionError("maxBody", maxBody, expected);
    }
    if (typeof exposeErrors !== "boolean") {
      throw optionError("exposeErrors", exposeErrors, "true or false");
    }
    if (mode !== "await" && mode !== "ack") throw optionError("mode", mode, '"await" or "ack"');
    this.path = trimSlashes(path.startsWith("/") ? path : `/${path}`);
    this.limits = { maxBody, timeout: bodyTimeout };
    this.log = log === undefined ? dispatcher.log : completeLogger(log);
    this.#pipeline = pipeline;
    this.#timeout = timeout;
    this.#isAck = mode === "ack";
    this.#isExposed = exposeErrors;
    this.#kinds = checkKinds(contentTypes);
    this.#required = requiredHeaders(pipeline);
    const types = this.#kinds.map((kind) => mediaTypes[kind]);
    this.#accept = { accept: types.join(", ") };
    this.#ok = textAnswer(200, "ok\n", this.#accept);
    this.#pending = textAnswer(202, "still processing\n", this.#accept);
    this.#acknowledged = textAnswer(202, "accepted\n", this.#accept);
    this.#repeated = textAnswer(200, "handled before\n", this.#accept);
    const wanted = types.map((type) => `"${type}"`).join(" or ");
    const unsupported = `Unsupported "Content-Type" header value. Must be ${wanted}`;
    this.#unsupported = errorAnswer(415, unsupported, this.#accept);
    const none = { id: "", name: "" };
    this.#impossible = {
      signature: failureAnswer(signatureError("signature", none)),
      timestamp: failureAnswer(signatureError("timestamp", none)),
    };
  }

  /** Looks at method and headers: an answer when the body need not be read, else the kind of the body. */
  checkHead(method: string, path: string, headers: HeaderReader): Answer | BodyKind {
    if (method !== "POST") return errorAnswer(404, `Unknown route: ${method} ${path}`);
    const kind = kindOf(headers.get("content-type"));
    if (kind === undefined || !this.#kinds.includes(kind)) return this.#unsupported;
    const missing = this.#missingHeaders(headers);
    if (missing !== undefined) return missing;
    const fault = this.#pipeline.vendor.scheme.faultOf(headers);
    if (fault !== undefined) {
      const { dispatcher } = this.#pipeline;
      // An error costs more than all the rest of a refusal.
      if (dispatcher.hasErrorListeners) {
        dispatcher.fail(signatureError(fault, this.#pipeline.namesOf(headers)));
      }
      return this.#impossible[fault];
    }
    if (Number(headers.get("content-length") ?? 0) > this.limits.maxBody) {
      return this.#refuse(bodyError("ERR_WEBHOOKS_BODY_SIZE"));
    }
    return kind;
  }

  /** Reads, verifies and handles a delivery. Never throws, never rejects. */
  answer({ read, waitUntil, startedAt, ...head }: Incoming): MaybePromise<Answer> {
    const { headers, kind, url } = head;
    const unverified = this.#pipeline.budget.open();
    let accepted: MaybePromise<VerifiedDelivery>;
    try {
      accepted = chain(read(this.limits, unverified), (body) => {
        unverified.settle();
        const verified = this.#pipeline.accept({ headers, body, kind, url });
        return isThenable(verified) ? this.#acceptInTime(verified, startedAt) : verified;
      });
    } catch (error) {
      unverified.close();
      return this.#refuse(error);
    }
    if (!isThenable(accepted)) {
      unverified.close();
      return this.#run(accepted, startedAt, waitUntil);
    }
    return accepted.then(
      (verified) => {
        unverified.close();
        return this.#run(verified, startedAt, waitUntil);
      },
      (error: unknown) => {
        unverified.close();
        return this.#refuse(error);
      },
    );
  }

  /** Waits for secrets and replay store as long as there is time. What comes later is given back, not handled. */
  #acceptInTime(
    accepting: Promise<VerifiedDelivery>,
    startedAt: number,
  ): Promise<VerifiedDelivery> {
    if (this.#timeout === Infinity) return accepting;
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        const message = "finding the secret or asking the replay store took too long";
        const error = new WebhookError("ERR_WEBHOOKS_TIMEOUT", message, { status: 503 });
        reject(this.#pipeline.dispatcher.fail(error));
      }, this.#timeLeft(startedAt));
      accepting.then(
        (verified) => {
          clearTimeout(timer);
          if (isLate) this.#pipeline.giveBack(verified);
          else resolve(verified);
        },
        (error: unknown) => {
          clearTimeout(timer);
          // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what the pipeline threw
          reject(error);
        },
      );
    });
  }

  #timeLeft(startedAt: number): number {
    return Math.max(0, startedAt + this.#timeout - performance.now());
  }

  /** The response to a delivery that could not be read or accepted. */
  #refuse(error: unknown): Answer {
    const isOfBody = error instanceof WebhookError && error.code.startsWith("ERR_WEBHOOKS_BODY");
    return this.#fail(isOfBody ? this.#pipeline.dispatcher.fail(error) : error);
  }

  #run(
    verified: VerifiedDelivery,
    startedAt: number,
    waitUntil: WaitUntil | undefined,
  ): MaybePromise<Answer> {
    const { event, reply } = verified;
    if (this.log.debug !== silent) {
      this.log.debug(`${oneLine(event.name)} event received (id: ${oneLine(event.id)})`);
    }
    if (verified.isRepetition) return this.#repeated;
    if (this.#isAck && reply === undefined) {
      return this.#acknowledge(verified, waitUntil);
    }
    const ok = reply === undefined ? this.#ok : textAnswer(200, reply);
    let running: MaybePromise<void> | undefined;
    // What handlers failed with is the response, though a replay store may not settle.
    let failure: Answer | undefined;
    const onFailure = (error: unknown): void => {
      failure = this.#fail(error);
    };
    try {
      running = this.#pipeline.handle(verified, onFailure);
    } catch (error) {
      return this.#fail(error);
    }
    if (running === undefined) return ok;
    const done = Promise.resolve(running).then(
      () => ok,
      (error: unknown) => failure ?? this.#fail(error),
    );
    if (this.#timeout === Infinity) return done;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        waitUntil?.(done);
        resolve(failure ?? this.#pending);
      }, this.#timeLeft(startedAt));
      void done.then((answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
    });
  }

  #acknowledge(verified: VerifiedDelivery, waitUntil: WaitUntil | undefined): Answer {
    let start: () => void;
    try {
      // What is acknowledged must not be refused afterwards.
      start = this.#pipeline.admit(verified);
    } catch (error) {
      return this.#fail(error);
    }
    const work = this.#handleLater(verified, start);
    waitUntil?.(work);
    return this.#acknowledged;
  }

  /** Handles after the answer has had its chance to leave. */
  async #handleLater(verified: VerifiedDelivery, start: () => void): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0));
    try {
      start();
      await this.#pipeline.handle(verified);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Logs a failure and makes its answer. Refusals are the sender's business and get one line. */
  #fail(error: unknown): Answer {
    if (error instanceof WebhookError && error.code === "ERR_WEBHOOKS_SIGNATURE") {
      this.log.warn(error.message);
    } else {
      this.log.error(error);
    }
    return failureAnswer(error, { isExposed: this.#isExposed });
  }

  #missingHeaders(headers: HeaderReader): Answer | undefined {
    let missing: string[] | undefined;
    for (const name of this.#required) {
      if (headers.get(name) === null) {
        missing ??= [];
        missing.push(name);
      }
    }
    if (missing === undefined) return undefined;
    return errorAnswer(400, `Required headers missing: ${missing.join(", ")}`, this.#accept);
  }
}

const mediaTypes: Readonly<Record<BodyKind, string>> = {
  json: "application/json",
  form: "application/x-www-form-urlencoded",
};

/** A path without slashes at its end; `/` for nothing else. */
export function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path.charCodeAt(end - 1) === 0x2f) end -= 1;
  return end === path.length ? path : path.slice(0, end);
}

function checkKinds(kinds: unknown): readonly BodyKind[] {
  if (Array.isArray(kinds) && kinds.length > 0 && kinds.every(isKind)) return [...kinds];
  throw optionError("contentTypes", typeof kinds, 'a list of "json" and "form"');
}

function isKind(kind: unknown): kind is BodyKind {
  return kind === "json" || kind === "form";
}

function requiredHeaders({ vendor }: DeliveryPipeline): readonly string[] {
  const { eventHeader, deliveryHeader, scheme } = vendor;
  const names = [eventHeader, ...scheme.requiredHeaders, deliveryHeader];
  return [...new Set(names.flatMap((name) => (name === undefined ? [] : [name.toLowerCase()])))];
}
