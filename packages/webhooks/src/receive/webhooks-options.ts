import type { EventHandlerOptions } from "../dispatch/event-handler-options.ts";
import type { EventMap } from "../event-map.ts";
import type { ReplayOptions } from "./replay-store.ts";
import type { HeaderReader } from "../headers.ts";

/** Unverified facts about a delivery, none of which is trustworthy. */
export interface DeliveryContext {
  /** Identifier of the delivery; `""` when unknown. */
  readonly id: string;
  /** Name of the event; `""` when only the body contains it. */
  readonly name: string;
  /** Headers of the delivery. */
  readonly headers: HeaderReader;
  /** URL or path of the request, with its query, when the delivery came through a receiver. */
  readonly url?: string | undefined;
}

/** The secrets of a delivery: of several, the first one signs and all verify. */
type Secrets = string | readonly string[] | undefined;

/** Finds the secrets of one delivery, for example of the tenant that its URL names. */
export type SecretFunction = (delivery: DeliveryContext) => Secrets | Promise<Secrets>;

/** Options of `Webhooks`. */
export interface WebhooksOptions<
  Events extends EventMap,
  Transformed = unknown,
> extends EventHandlerOptions<Events, Transformed> {
  /**
   * The secret that is shared with the sender. If there are several, the first one signs and all
   * verify. A function is called for each delivery; when it fails, the response is 500 and the
   * delivery is not handled.
   */
  readonly secret: string | readonly string[] | SecretFunction;
  /** More secrets to verify with, for example the old secret during a rotation. Default: none. */
  readonly additionalSecrets?: readonly string[] | undefined;
  /**
   * Handles each delivery with a signed identifier once; see {@link ReplayOptions}. `true` for the
   * defaults. Default: `false`.
   */
  readonly replay?: boolean | ReplayOptions | undefined;
  /**
   * Maximum number of bytes of unverified bodies that receivers and `verifyAndParse` keep, over all
   * requests. Beyond it the largest body is refused with 503. Memory in use may be three times as
   * much. Default: `67_108_864` (64 MiB).
   */
  readonly maxUnverified?: number | undefined;
}
