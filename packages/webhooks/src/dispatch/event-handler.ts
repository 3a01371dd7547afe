import { vendor as defaultVendor } from "../vendors/default-vendor.ts";
import { WebhookError } from "../errors.ts";
import { type EventHandlerOptions, handlerOptionNames } from "./event-handler-options.ts";
import { anyEvent, Dispatcher, failures } from "./dispatcher.ts";
import type { AnyEvent, EventMap, EventName, UntypedEvent, WebhookEvent } from "../event-map.ts";
import { completeLogger } from "../logger.ts";
import { checkOptions, checkType } from "../check-options.ts";
import { createNameCheck } from "./validate-event-name.ts";
import { checkVendor, type Vendor } from "../vendors/define-vendor.ts";
import type { VendorEvents } from "../vendors/vendor-events.ts";

/** The event that a handler of `on` is called with: with what the transform adds. */
type TransformedEvent<
  Events extends EventMap,
  Name extends string,
  Transformed,
> = unknown extends Transformed
  ? WebhookEvent<Events, Name>
  : WebhookEvent<Events, Name> & Added<Transformed>;

/** Parts that a transform adds or changes. Types of the unchanged parts follow the name. */
type Added<Transformed> = Transformed extends UntypedEvent
  ? {
      [
        Key in keyof Transformed as Key extends keyof UntypedEvent
          ? UntypedEvent[Key] extends Transformed[Key]
            ? never
            : Key
          : Key
      ]: Transformed[Key];
    }
  : Transformed;

/** Handles the events of one or more names. A promise that it returns is awaited. */
export type EventListener<Events extends EventMap, Name extends string, Transformed = unknown> = (
  event: TransformedEvent<Events, Name, Transformed>,
) => unknown;

/** Handles every event. */
type AnyListener<Events extends EventMap> = (event: AnyEvent<Events>) => unknown;

/** Called with every failure. Errors that it throws are logged. */
type ErrorListener = (error: WebhookError) => unknown;

/** Calls handlers by event. All methods are bound. */
export interface EventHandler<Events extends EventMap = VendorEvents, Transformed = unknown> {
  /**
   * Adds a handler for one or more names; twice for a name that is listed twice.
   *
   * @throws WebhookUsageError `ERR_WEBHOOKS_EVENT_NAME`, `ERR_WEBHOOKS_ARGUMENT` when the handler
   * is not a function
   */
  readonly on: <Name extends EventName<Events>>(
    eventName: Name | readonly Name[],
    handler: EventListener<Events, Name, Transformed>,
  ) => void;
  /** Adds a handler for every event, known or unknown. It gets the event without the transform. */
  readonly onAny: (handler: AnyListener<Events>) => void;
  /**
   * Adds a listener of failures: called once for each handler that failed, and once for a delivery
   * that could not be verified or read. It is not awaited.
   */
  readonly onError: (handler: ErrorListener) => void;
  /**
   * Removes the most recent registration of a handler, for each name. `*` is for `onAny`, `error`
   * for `onError`. Ignores handlers that are not registered.
   */
  readonly removeListener: <Name extends EventName<Events> | "*" | "error">(
    eventName: Name | readonly Name[],
    handler: (...parameters: never[]) => unknown,
  ) => void;
  /**
   * Calls the handlers of `<name>.<action>`, of `<name>` and of any event, in this order and in
   * parallel, and resolves when all are done.
   *
   * @throws WebhookReceiveError `ERR_WEBHOOKS_RECEIVE` with a `WebhookHandlerError` in `errors` for
   * each that failed
   * @throws WebhookError `ERR_WEBHOOKS_EVENT` without name or payload
   */
  readonly receive: (event: ReceivedEvent) => Promise<void>;
}

/** Names of `removeListener` that are not of events. */
const specialNames: ReadonlyMap<string, symbol> = /* @__PURE__ */ new Map([
  ["*", anyEvent],
  ["error", failures],
]);

/** The argument of `receive`. */
interface ReceivedEvent {
  readonly id: string;
  readonly name: string;
  readonly payload: object;
}

/**
 * Makes handlers and `receive` without verification, for events from another source.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createEventHandler<Events extends EventMap = VendorEvents, Transformed = unknown>(
  options: EventHandlerOptions<Events, Transformed> = {},
): EventHandler<Events, Transformed> {
  checkOptions("createEventHandler", options, handlerOptionNames);
  return createHandling(options).handler;
}

/** Makes the public methods of an event handler, and the parts that `Webhooks` needs. */
export function createHandling<Events extends EventMap, Transformed>(
  options: EventHandlerOptions<Events, Transformed>,
): {
  readonly vendor: Vendor<Events>;
  readonly handler: EventHandler<Events, Transformed>;
  readonly dispatcher: Dispatcher;
} {
  // The type parameter is `VendorEvents` when no vendor is given.
  const { vendor = defaultVendor as unknown as Vendor<Events>, transform, log } = options;
  const { onUnknownEventName = "warn" } = options;
  checkType("transform", transform, "function");
  checkVendor(vendor);
  const logger = completeLogger(log);
  const checkName = createNameCheck(vendor, onUnknownEventName, logger);
  const dispatcher = new Dispatcher({ log: logger, actionOf: vendor.actionOf, transform });
  const handler: EventHandler<Events, Transformed> = {
    on: (eventName, listener) => {
      const names: readonly unknown[] = Array.isArray(eventName) ? eventName : [eventName];
      for (const name of names) dispatcher.add(checkName(name), listener);
    },
    onAny: (listener) => dispatcher.add(anyEvent, listener),
    onError: (listener) => dispatcher.add(failures, listener),
    removeListener: (eventName, listener) => {
      const names: readonly string[] = typeof eventName === "string" ? [eventName] : eventName;
      for (const name of names) dispatcher.remove(specialNames.get(name) ?? name, listener);
    },
    receive: async (event) => dispatcher.dispatch(checkEvent(event, dispatcher)),
  };
  return { vendor, handler, dispatcher };
}

/**
 * Checks the argument of `receive`, because JavaScript may pass anything.
 *
 * @throws WebhookError `ERR_WEBHOOKS_EVENT`, after the listeners were called with it
 */
export function checkEvent(event: ReceivedEvent | undefined, dispatcher: Dispatcher): UntypedEvent {
  const { name, payload } = event ?? {};
  if (event === undefined || typeof name !== "string" || name === "") {
    throw dispatcher.report(eventError("Event name not passed", event));
  }
  if (typeof payload !== "object" || payload === null) {
    throw dispatcher.report(eventError("Event payload not passed", event));
  }
  // Any object has fields with unknown values.
  return event as UntypedEvent;
}

function eventError(message: string, event: ReceivedEvent | undefined): WebhookError {
  return new WebhookError("ERR_WEBHOOKS_EVENT", message, {
    status: 400,
    // Any shape is possible, because it is not an event.
    event: (event ?? {}) as Partial<UntypedEvent>,
    errors: [new TypeError(message)],
  });
}
