import type { Store } from "@fetchwork/documents";
import { defineVendor, type UntypedEvents } from "@fetchwork/webhooks";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import type { Service } from "../define-service.ts";
import type { Log } from "../log/log.ts";
import type { StartSettings } from "../settings/start-settings.ts";
import { announcedActions, announcedResources } from "./announced-resources.ts";

/** Announces changes of resources to admins' endpoints, and sends the service's events. */
export function createServiceSender(
  { name, options: { webhooks }, resources }: Service,
  store: Store,
  { logs, settings }: { readonly logs: Log | undefined; readonly settings: StartSettings },
): Sender {
  const { isProduction, secretKeys, webhooksToPrivate: isOpen } = settings;
  if (isProduction && secretKeys === undefined) {
    logs?.warned("SECRET_KEY is not set, so secrets of webhooks are stored as they are");
  }
  const announced = resources.filter(({ collection }) => collection.changes === "documents");
  const sent = [
    ...announced.flatMap((resource) =>
      announcedActions.map((action) => `${resource.name}.${action}`),
    ),
    ...(typeof webhooks === "object" ? webhooks.events : []),
  ];
  const vendor = defineVendor<UntypedEvents>({
    ...fetchwork,
    name,
    events: undefined,
    eventNames: [...announced.map((resource) => resource.name), ...sent],
  });
  return createSender({
    store,
    vendor,
    eventTypes: Object.fromEntries(sent.map((each) => [each, {}])),
    announce: announcedResources(announced, {
      store,
      users: resources.find(({ owner }) => owner === "id"),
    }),
    sealWith: secretKeys,
    allowHttp: isOpen,
    allowPrivate: isOpen,
    onError: logs?.failed,
  });
}
