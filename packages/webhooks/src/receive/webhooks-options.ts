import type { EventHandlerOptions } from "../dispatch/event-handler-options.ts";
import type { EventMap } from "../event-map.ts";
import type { ReplayOptions } from "./replay-store.ts";
import type { HeaderReader } from "../headers.ts";
import type { MaybePromise } from "../maybe-promise.ts";

/** What is known about a delivery before it is verified; nothing of it can be believed. */
export interface DeliveryContext {
  /** Identifier of the delivery; `""` when unknown. */
  readonly id: string;
  /** Name of the event; `""` when only the body says it. */
  readonly name: string;
  /** Headers of the delivery. */
  readonly headers: HeaderReader;
  /** URL or path of the request, with its query, when the delivery came through a receiver. */
  readonly url?: string | undefined;
}

/** Finds the secrets of one delivery, for example of the tenant that its URL names. */
export type SecretFunction = (
  delivery: DeliveryContext,
) => MaybePromise<string | readonly string[] | undefined>;

/** Options of `Webhooks`. */
export interface WebhooksOptions<
  Events extends EventMap,
  Transformed = unknown,
> extends EventHandlerOptions<Events, Transformed> {
  /**
   * The secret that the sender has too. Of several, the first one signs and each one verifies. A function is asked for
   * each delivery; when it fails, the delivery is answered with 500 and not handled.
   */
  readonly secret: string | readonly string[] | SecretFunction;
  /** More secrets to verify with, for instance the old one while it is replaced. Default: none. */
  readonly additionalSecrets?: readonly string[] | undefined;
  /**
   * Handles each delivery once that has a signed identifier; see {@link ReplayOptions}. `true` for the defaults. Default:
   * `false`.
   */
  readonly replay?: boolean | ReplayOptions | undefined;
  /**
   * Maximum number of bytes that receivers and `verifyAndParse` keep of bodies that are not verified yet, over all
   * requests. Beyond it the largest of them is refused with 503. Memory in use may be three times as much. Default:
   * `67_108_864` (64 MiB).
   */
  readonly maxUnverified?: number | undefined;
}
