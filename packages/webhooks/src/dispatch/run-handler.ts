import { WebhookError } from "../errors.ts";
import { isThenable } from "../thenable.ts";
import type { HandlerContext } from "./event-handler-options.ts";
import type { UntypedEvent } from "../event-map.ts";
import type { Registration } from "./handler-registry.ts";
import type { Turns } from "./turns.ts";

/** How handlers are run. */
export interface RunSettings {
  readonly transform: ((event: UntypedEvent) => unknown) | undefined;
  /** Milliseconds, or `Infinity`. */
  readonly timeout: number;
  readonly turns: Turns | undefined;
  /** Receives the error of a handler that failed after its time. */
  readonly reportLate: (error: unknown) => void;
}

/** Makes its signal when somebody asks for it, which few handlers do. */
class LazyContext implements HandlerContext {
  #controller: AbortController | undefined;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}

/**
 * Calls one handler. Returns a promise when there is something to wait for; throws or rejects with what the handler, or
 * the transform, throws.
 */
export function runHandler(
  registration: Registration,
  event: UntypedEvent,
  settings: RunSettings,
): Promise<unknown> | undefined {
  const { turns } = settings;
  if (turns === undefined) return runNow(registration, event, settings);
  const turn = turns.take();
  if (turn !== undefined) return turn.then(() => runInTurn(registration, event, settings, turns));
  let running: Promise<unknown> | undefined;
  try {
    running = runNow(registration, event, settings);
  } catch (error) {
    turns.give();
    throw error;
  }
  if (running === undefined) turns.give();
  return running?.finally(() => turns.give());
}

async function runInTurn(
  registration: Registration,
  event: UntypedEvent,
  settings: RunSettings,
  turns: Turns,
): Promise<void> {
  try {
    await runNow(registration, event, settings);
  } finally {
    turns.give();
  }
}

function runNow(
  { handler, isTransformed }: Registration,
  event: UntypedEvent,
  { transform, timeout, reportLate }: RunSettings,
): Promise<unknown> | undefined {
  const context = new LazyContext();
  let result: unknown;
  if (transform !== undefined && isTransformed) {
    const transformed = transform(event);
    // What `transform` returns is what handlers are declared to take.
    result = isThenable(transformed)
      ? transformed.then((value) => handler(value as UntypedEvent, context))
      : handler(transformed as UntypedEvent, context);
  } else {
    result = handler(event, context);
  }
  if (!isThenable(result)) return undefined;
  return timeout === Infinity
    ? Promise.resolve(result)
    : endInTime(result, { timeout, context, reportLate });
}

interface Deadline {
  readonly timeout: number;
  readonly context: LazyContext;
  readonly reportLate: (error: unknown) => void;
}

function endInTime(
  work: PromiseLike<unknown>,
  { timeout, context, reportLate }: Deadline,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      const error = new WebhookError(
        "ERR_WEBHOOKS_TIMEOUT",
        `a handler took longer than ${timeout} ms`,
      );
      reject(error);
      context.abort(error);
    }, timeout);
    work.then(
      () => {
        clearTimeout(timer);
        resolve();
      },
      (error: unknown) => {
        clearTimeout(timer);
        if (isLate) reportLate(error);
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- whatever the handler threw
        else reject(error);
      },
    );
  });
}
