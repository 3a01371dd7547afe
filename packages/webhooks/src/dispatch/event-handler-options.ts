import type { Logger } from "@fetchwork/kit";
import type { EventMap, UntypedEvent } from "../event-map.ts";
import type { MaybePromise } from "../maybe-promise.ts";
import type { Vendor } from "../vendors/define-vendor.ts";

/** What a handler is told beside its event. */
export interface HandlerContext {
  /** Aborted when `handlerTimeout` is over. Made on first use. */
  readonly signal: AbortSignal;
}

/** Names of {@link EventHandlerOptions}. */
export const handlerOptionNames: readonly string[] = [
  "vendor",
  "transform",
  "log",
  "onUnknownEventName",
  "concurrency",
  "backlog",
  "handlerTimeout",
];

/** Options of `createEventHandler`. */
export interface EventHandlerOptions<Events extends EventMap, Transformed = unknown> {
  /** Who sends. Default: `vendor`. */
  readonly vendor?: Vendor<Events> | undefined;
  /**
   * Changes the event for handlers registered with `on`; called once for each of them. What it returns is what they get.
   * Default: none.
   */
  readonly transform?: ((event: UntypedEvent) => MaybePromise<Transformed>) | undefined;
  /** Default: the console, without `debug` and `info`. */
  readonly log?: Partial<Logger> | undefined;
  /** What `on` does about a name that the vendor does not have. Default: `"warn"`. */
  readonly onUnknownEventName?: "warn" | "ignore" | "throw" | undefined;
  /** Handlers that run at once, over all deliveries; others wait their turn. Default: `Infinity`. */
  readonly concurrency?: number | undefined;
  /** Handlers that may wait for their turn; beyond it a delivery is refused with 503. Default: `10_000`. */
  readonly backlog?: number | undefined;
  /** Milliseconds after which a handler counts as failed, and its signal is aborted. Default: `Infinity`. */
  readonly handlerTimeout?: number | undefined;
}
