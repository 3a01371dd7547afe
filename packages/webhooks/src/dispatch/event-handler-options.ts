import type { Logger } from "@fetchwork/kit";
import type { EventMap, UntypedEvent } from "../event-map.ts";
import type { Vendor } from "../vendors/define-vendor.ts";

/** Names of {@link EventHandlerOptions}. */
export const handlerOptionNames: readonly (keyof EventHandlerOptions<EventMap>)[] = [
  "vendor",
  "transform",
  "log",
  "onUnknownEventName",
];

/** Options of `createEventHandler`. */
export interface EventHandlerOptions<Events extends EventMap, Transformed = unknown> {
  /** The platform that sends. Default: `vendor`. */
  readonly vendor?: Vendor<Events> | undefined;
  /**
   * Changes the event for handlers registered with `on`; called once for each of them. They are
   * called with what it returns. Default: none.
   */
  readonly transform?: ((event: UntypedEvent) => Transformed | Promise<Transformed>) | undefined;
  /** Default: the console, without `debug` and `info`. */
  readonly log?: Partial<Logger> | undefined;
  /** Action of `on` for an unknown event name. Default: `"warn"`. */
  readonly onUnknownEventName?: "warn" | "ignore" | "throw" | undefined;
}
