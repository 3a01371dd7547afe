import type { Store } from "@fetchwork/documents";
import { defineVendor, type UntypedEvents } from "@fetchwork/webhooks";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import type { Service } from "../define-service.ts";
import type { Log } from "../log/log.ts";
import { announcedActions, announcedResources } from "./announced-resources.ts";

/** Announces every change of the resources to the endpoints that admins subscribe, and sends what the service sends itself. */
export function createServiceSender(
  { name, options: { webhooks }, resources }: Service,
  store: Store,
  { isOpen, logs }: { readonly isOpen: boolean; readonly logs: Log | undefined },
): Sender {
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
    allowHttp: isOpen,
    allowPrivate: isOpen,
    onError: logs?.failed,
  });
}
