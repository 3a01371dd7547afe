import {
  createEventHandler as createVendorEventHandler,
  type EventHandler,
} from "../dispatch/event-handler.ts";
import type { EventHandlerOptions } from "../dispatch/event-handler-options.ts";
import type { WebhookError } from "../errors.ts";
import type { UntypedEvent } from "../event-map.ts";
import { Webhooks as VendorWebhooks } from "../receive/webhooks.ts";
import type { WebhooksOptions } from "../receive/webhooks-options.ts";
import type { GithubEvents } from "../vendors/github-events.ts";
import { github } from "../vendors/github.ts";
import type { EmitterWebhookEvent } from "./events.ts";

interface TransformOption<Transformed> {
  /**
   * Changes the event for handlers registered with `on`; called once for each of them. They are
   * called with what it returns. Default: none.
   */
  transform?(event: UntypedEvent): Transformed | Promise<Transformed>;
}

/** Options of GitHub's `Webhooks`: those of any vendor, without `vendor`. */
export interface GithubWebhooksOptions<Transformed = unknown>
  extends
    Omit<WebhooksOptions<GithubEvents, Transformed>, "vendor" | "transform">,
    TransformOption<Transformed> {}

/** Options of GitHub's `createEventHandler`: those of any vendor, without `vendor`. */
interface GithubEventHandlerOptions<Transformed = unknown>
  extends
    Omit<EventHandlerOptions<GithubEvents, Transformed>, "vendor" | "transform">,
    TransformOption<Transformed> {}

/** A listener of failures. The event of an unverified delivery has only `id` and `name`. */
type GithubErrorListener = (
  error: WebhookError & { readonly event: EmitterWebhookEvent },
) => unknown;

/**
 * Verifies GitHub's deliveries and calls handlers. All methods are bound. As `Webhooks` of
 * `@fetchwork/webhooks` with the vendor `github`, and with the types of `@octokit/webhooks`.
 *
 * @example
 * ```ts
 * const webhooks = new Webhooks({ secret: process.env["WEBHOOK_SECRET"] ?? "" });
 * webhooks.on("issues.opened", ({ payload }) => console.log(payload.issue.title));
 * ```
 */
export class Webhooks<Transformed = unknown> extends VendorWebhooks<GithubEvents, Transformed> {
  /** Adds a listener of failures. See {@link EventHandler}. */
  declare readonly onError: (listener: GithubErrorListener) => void;

  /** @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`, `ERR_WEBHOOKS_SECRET` */
  constructor(options: GithubWebhooksOptions<Transformed>) {
    super({ ...options, vendor: github });
  }
}

/**
 * Makes handlers of GitHub's events and `receive` without verification, for events from another
 * source.
 *
 * @throws WebhookUsageError `ERR_WEBHOOKS_OPTION`
 */
export function createEventHandler<Transformed = unknown>(
  options: GithubEventHandlerOptions<Transformed> = {},
): EventHandler<GithubEvents, Transformed> {
  return createVendorEventHandler<GithubEvents, Transformed>({ ...options, vendor: github });
}
