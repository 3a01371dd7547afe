/** Longest name of an event, and of a filter without its `.*`. */
const maxName = 128;

/** Returns whether a value is a valid name of an event, for headers and filters. */
export function isEventName(name: unknown): name is string {
  return typeof name === "string" && name.length <= maxName && /^[A-Za-z\d][\w.:/-]*$/.test(name);
}

/** Says in messages what {@link isTenant} accepts. */
export const tenantForm = "1 to 64 letters, digits, _ and -";
/** Returns whether a value names a tenant. */
export function isTenant(tenant: unknown): tenant is string {
  return typeof tenant === "string" && /^[\w-]{1,64}$/.test(tenant);
}

/**
 * Returns the topics that an endpoint is stored with, by which an index finds it. `issues` takes
 * every `issues` event, `issues.opened` those with that action, and `order.*` whatever begins with
 * `order.`; no list takes everything.
 */
export function topicsOf(
  tenant: string | undefined,
  events: readonly string[] = ["*"],
): readonly string[] {
  return events.map((filter) => topic(tenant, filter));
}

/** Returns the topics whose endpoints want an event; few, however long its action is. */
export function topicsOfEvent({
  tenant,
  name,
  action,
}: {
  readonly tenant: string | undefined;
  readonly name: string;
  readonly action: string | undefined;
}): readonly string[] {
  const full = (action === undefined ? name : `${name}.${action}`).slice(0, maxName + 1);
  const parents = Array.from(full.matchAll(/\./g), ({ index }) => `${full.slice(0, index)}.*`);
  return [...new Set(["*", name, full, ...parents])].map((filter) => topic(tenant, filter));
}

/** A tenant has no `/`, so no two tenants share a topic. */
function topic(tenant = "", filter: string): string {
  return `${tenant}/${filter}`;
}
