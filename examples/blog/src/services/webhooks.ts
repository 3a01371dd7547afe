import type { Store } from "@fetchwork/documents";
import type { Handler } from "@fetchwork/http";
import { createWebMiddleware, defineVendor, Webhooks } from "@fetchwork/webhooks";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import { about } from "../about.ts";
import { resources } from "../api/index.ts";
import type { AppConfig } from "../app.ts";
import { announcedResources } from "./announced-resources.ts";

const actions = ["created", "updated", "removed", "restored"] as const;

/** What happened to a document, which is the member that is called like its resource. */
export interface ChangeEvent {
  readonly action: (typeof actions)[number];
  readonly [resource: string]: unknown;
}

/** How the API signs what it sends, and what it takes at the default path. */
export const apiVendor = defineVendor<Readonly<Record<string, ChangeEvent>>>({
  ...fetchwork,
  name: about.name,
  path: "/api/vendor/webhooks",
  events: undefined,
  eventNames: resources.flatMap(({ name }) => [
    name,
    ...actions.map((action) => `${name}.${action}`),
  ]),
});

/** Announces every change of the resources to the endpoints that admins subscribe. */
export function createApiSender(
  store: Store,
  { logs, webhooksToPrivate: isOpen = false }: Pick<AppConfig, "logs" | "webhooksToPrivate">,
): Sender {
  return createSender({
    store,
    vendor: apiVendor,
    announce: announcedResources(resources),
    allowHttp: isOpen,
    allowPrivate: isOpen,
    onError: logs?.failed,
  });
}

/** Receives events: register what should happen with `on`. */
function createReceiver(secret: string): Webhooks<Readonly<Record<string, ChangeEvent>>> {
  const webhooks = new Webhooks({ secret, vendor: apiVendor, replay: true });
  webhooks.onAny(({ id, name, payload }) => {
    console.log(`webhook ${id}: ${name}.${payload.action}`);
  });
  return webhooks;
}

/** Bytes of a webhook. What the API sends is shorter, and anybody can have as many kept until they are verified. */
const maxBody = 1_048_576;

/** Puts the receiver of webhooks before the API, when there is a secret to verify them with. */
export function withReceiver(handler: Handler, secret: string | undefined): Handler {
  if (secret === undefined) return handler;
  const { path } = apiVendor;
  const receive = createWebMiddleware(createReceiver(secret), { maxBody });
  return (request, context) =>
    // The first look is cheap, and no for nearly every request.
    request.url.includes(path) && new URL(request.url).pathname === path
      ? receive(request, context)
      : handler(request, context);
}
