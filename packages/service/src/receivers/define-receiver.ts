import { type CollectionDefinition, defineCollection } from "@fetchwork/documents";
import type { Logger } from "@fetchwork/kit";
import { defineRoute, type Route } from "@fetchwork/rest";
import {
  collectionReplayStore,
  createWebMiddleware,
  type EventName,
  type ReplayDocument,
  type Vendor,
  type WebhookEvent,
  Webhooks,
} from "@fetchwork/webhooks";
import { checkOptions } from "../check-options.ts";
import { ServiceError, StartError } from "../errors.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Handles an event. An error within 15 s becomes 500, after which most senders try again. */
export interface ReceivedEventHandler<Event> {
  // A method, so that it may take one event of those that a name stands for.
  /** Handles one event; throws to have the sender repeat it. */
  handle(event: Event, parts: ServiceParts): unknown;
}

/** Definition of a receiver: its platform, its path, and its work. */
export interface ReceiverDefinition<Events extends object> {
  /** Name of the receiver, in letters and digits after a letter. */
  readonly name: string;
  /** Path at which it receives, such as `/stripe`. */
  readonly path: string;
  /** The platform that sends, such as `stripe` of `@fetchwork/webhooks/vendors`. */
  readonly vendor: Vendor<Events>;
  /** Variable with the secret shared with the sender. While it is not set: 404. */
  readonly secret: string;
  /**
   * Handlers by the names of their events. A delivery with a signed identifier that was handled is
   * not handled again, in whatever process it arrives; that of others may be.
   */
  readonly on: {
    readonly [Name in EventName<Events>]?: ReceivedEventHandler<
      WebhookEvent<Events, Name>
    >["handle"];
  };
}

/** A receiver of webhooks. */
export interface Receiver {
  readonly name: string;
  /** The variable with its secret. */
  readonly secret: string;
  /** Makes its route, of a service with this public origin and a log of what fails. */
  route(parts: ServiceParts, secret: string, log: Partial<Logger>, origin: string): Route;
}

/** Deliveries that were received, so that none is handled again. */
export const receivedDeliveries: CollectionDefinition<ReplayDocument> =
  defineCollection<ReplayDocument>("received-webhooks", { indexes: ["until"] });

/**
 * Defines a receiver of webhooks: deliveries whose signature holds are handed to the handlers of
 * their events.
 *
 * @throws ServiceError for an option that does not exist, and for a wrong name or path.
 *
 * @example
 * ```ts
 * export const payments = defineReceiver({
 *   name: "payments",
 *   path: "/payments/webhooks",
 *   vendor: stripe,
 *   secret: "STRIPE_SECRET",
 *   on: {
 *     "checkout.session.completed": ({ payload }, { store }) => markPaid(store, payload),
 *   },
 * });
 * ```
 */
export function defineReceiver<Events extends object>(
  options: ReceiverDefinition<Events>,
): Receiver {
  checkOptions("defineReceiver", options, ["name", "path", "vendor", "secret", "on"]);
  const { name, path, secret: setting, vendor, on } = options;
  if (!/^[a-z][a-z\d]*$/i.test(name)) {
    throw new ServiceError(`name of a receiver must be letters, got ${JSON.stringify(name)}`);
  }
  if (!/^(?:\/[\w.~-]+)+$/.test(path)) {
    throw new ServiceError(`path of ${name} must be one like /stripe, got ${JSON.stringify(path)}`);
  }
  return {
    name,
    secret: setting,
    route(parts, secret, log, origin) {
      try {
        vendor.scheme.createKey(secret);
      } catch (cause) {
        throw new StartError(`${setting}: ${(cause as Error).message}`, { cause });
      }
      const store = collectionReplayStore(parts.store.collection(receivedDeliveries));
      const webhooks = new Webhooks<Events>({ secret, vendor, replay: { store }, log });
      for (const event of Object.keys(on) as EventName<Events>[]) {
        const handle = on[event] as ReceivedEventHandler<WebhookEvent<Events>>["handle"];
        webhooks.on(event, (given) => handle(given as WebhookEvent<Events>, parts));
      }
      const url = origin + path; // Some vendors sign the URL that they were given.
      // Longer than a response may take: after a 202 the sender would not repeat what fails later.
      const limits = { maxBody: 1_048_576, timeout: 20_000 };
      const receive = createWebMiddleware(webhooks, { ...limits, path, log, url });
      return defineRoute({
        method: "POST",
        path,
        operation: `receive${name.charAt(0).toUpperCase()}${name.slice(1)}`,
        summary: `Receive webhooks of ${vendor.name}`,
        tag: "receivers",
        tagDescription: "What other services report, signed by them",
        access: "public",
        raw: true,
        responses: {
          200: { description: "Handled" },
          400: { description: "No signature, or one that does not hold" },
          500: { description: "Not handled; to be sent again" },
        },
        handle: ({ request, context }) => receive(request, context),
      });
    },
  };
}
