import { closestName } from "@fetchwork/kit";

const maxShown = 32;

/**
 * Gives the names of options; the type asks for every one of them.
 *
 * @internal
 */
export function optionNames<O extends object>(
  names: Readonly<Record<keyof O & string, true>>,
): ReadonlySet<string> {
  return new Set(Object.keys(names));
}

/**
 * Rejects unknown options: a misspelt guard or filter would do nothing. An option that is `undefined` is
 * ignored.
 *
 * @internal
 * @throws What `makeError` makes.
 */
export function refuseUnknown(
  options: unknown,
  names: ReadonlySet<string>,
  makeError: (message: string) => Error,
): void {
  if (typeof options !== "object" || options === null) {
    throw makeError("options must be an object");
  }
  // Not `Object.keys`, which makes a list: reading by id takes a few microseconds in all.
  for (const name in options) {
    if (names.has(name) || Reflect.get(options, name) === undefined) continue;
    const meant = closestName(name, [...names]);
    const known = Array.from(names, (each) => `"${each}"`).join(", ");
    const advice = meant === undefined ? `expected ${known}` : `did you mean "${meant}"?`;
    throw makeError(`${JSON.stringify(name.slice(0, maxShown))} is not an option, ${advice}`);
  }
}
