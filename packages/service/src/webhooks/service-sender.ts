import type { Store } from "@fetchwork/documents";
import type { Resource } from "@fetchwork/rest";
import { defineVendor, type UntypedEvents } from "@fetchwork/webhooks";
import { createSender, type Sender } from "@fetchwork/webhooks/sender";
import { fetchwork } from "@fetchwork/webhooks/vendors";
import type { Service } from "../define-service.ts";
import type { Log } from "../log/log.ts";
import { announcedActions, announcedResources } from "./announced-resources.ts";

/** Announces every change of the resources to the endpoints that admins subscribe, and sends what the service sends itself. */
export function createServiceSender(
  service: Service,
  store: Store,
  { isOpen, logs }: { readonly isOpen: boolean; readonly logs: Log | undefined },
): Sender {
  const { name, resources } = service;
  const announced = resources.filter(isAnnounced);
  const vendor = defineVendor<UntypedEvents>({
    ...fetchwork,
    name,
    events: undefined,
    eventNames: eventNamesOf(service),
  });
  return createSender({
    store,
    vendor,
    announce: announcedResources(announced, {
      store,
      users: resources.find(({ owner }) => owner === "id"),
    }),
    allowHttp: isOpen,
    allowPrivate: isOpen,
    onError: logs?.failed,
  });
}

/** Names that endpoints subscribe to: of resources, of what happens to their documents, and of the service's own events. */
export function eventNamesOf({ options: { webhooks }, resources }: Service): readonly string[] {
  const announced = resources
    .filter(isAnnounced)
    .flatMap(({ name }) => [name, ...announcedActions.map((action) => `${name}.${action}`)]);
  return [...announced, ...(typeof webhooks === "object" ? webhooks.events : [])];
}

function isAnnounced({ collection }: Resource): boolean {
  return collection.changes === "documents";
}
