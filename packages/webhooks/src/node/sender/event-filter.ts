/**
 * Returns whether an endpoint is subscribed to an event. `issues` takes every `issues` event, `issues.opened` those with that action,
 * and `order.*` whatever begins with `order.`; no list takes everything.
 */
export function wantsEvent(
  wanted: readonly string[] | undefined,
  { name, action }: { readonly name: string; readonly action: string | undefined },
): boolean {
  if (wanted === undefined) return true;
  const full = action === undefined ? name : `${name}.${action}`;
  return wanted.some(
    (entry) =>
      entry === name ||
      entry === full ||
      (entry.endsWith(".*") && full.startsWith(entry.slice(0, -1))),
  );
}

/** Returns whether a value is a valid name of an event, for headers and filters. */
export function isEventName(name: unknown): name is string {
  return typeof name === "string" && /^[A-Za-z\d][\w.:/-]{0,127}$/.test(name);
}
