import { fail } from "./errors.ts";
import { mergeHeaders } from "./headers.ts";
import { isTokens } from "./media-type.ts";
import type { EndpointDefaults } from "./options.ts";
import { getOwn, isObject, isPlainObject, type PlainObject } from "./own-property.ts";
import { splitRoute } from "./route.ts";

/** Objects may be nested this deep where two of them are merged; a cycle is deeper. */
const maximumDepth = 64;

/** Merges a route, if there is one, and options over defaults. Changes no argument. */
export function mergeOptions(
  defaults: EndpointDefaults,
  given: unknown,
  givenOptions?: unknown,
): EndpointDefaults {
  const route = isObject(given) || given === undefined ? {} : splitRoute(given);
  const options = (isObject(given) ? given : givenOptions) ?? {};
  if (!isObject(options)) fail("ERR_ENDPOINT_OPTION", "the options are not an object");
  // Options as their type lets callers pass them; `checkOptions` checks them before use.
  const merged = mergeObjects({ ...defaults, ...route }, options) as EndpointDefaults;
  const headers = mergeHeaders(defaults.headers, options["headers"] ?? {});
  const previews: unknown = merged.mediaType?.previews;
  if (!isTokens(previews)) return { ...merged, headers };
  const own = previews.map((name) => name.replace(/-preview$/, ""));
  // A call to GraphQL adds previews to those of the defaults.
  const known = String(merged.url).endsWith("/graphql") ? defaults.mediaType.previews : [];
  const all = [...new Set([...(known ?? []), ...own])];
  return { ...merged, headers, mediaType: { ...merged.mediaType, previews: all } };
}

/** Puts changes over defaults, plain objects key by key. `undefined` changes nothing. */
function mergeObjects(defaults: PlainObject, changes: PlainObject, depth = 0): PlainObject {
  if (depth > maximumDepth) fail("ERR_ENDPOINT_OPTION", "the options are too deep");
  let result: Record<string, unknown> = { ...defaults };
  for (const key of Object.keys(changes)) {
    const value = changes[key];
    if (value === undefined) continue;
    const old = getOwn(defaults, key);
    const isBoth = isPlainObject(value) && isPlainObject(old);
    const merged = isBoth ? mergeObjects(old, value, depth + 1) : value;
    // An assignment would take `__proto__` for the prototype.
    if (key === "__proto__") result = { ...result, [key]: merged };
    else result[key] = merged;
  }
  return result;
}
