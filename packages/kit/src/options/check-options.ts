import { closestName } from "./closest-name.ts";
import { describeValue } from "./describe-value.ts";

/** What {@link checkOptions} knows of a function's options. */
export interface KnownOptions {
  /** Who takes the options, for the message: `cors`, `serve`. */
  readonly owner: string;
  /** Names of all options. */
  readonly names: readonly string[];
  /** Names that other libraries have for them, and what they are called here: `{ origin: "allowedOrigins" }`. */
  readonly otherNames?: Readonly<Record<string, string>> | undefined;
}

/**
 * Refuses options that do not exist, so that a misspelt one never switches a protection off in silence. The message
 * names the option that was probably meant. Options that are `undefined` as a whole are accepted.
 *
 * @param fail - Makes the error of the package that asks, of the message.
 * @throws What `fail` returns, when `options` is not an object or has an own enumerable key that is not one of `names`.
 * @example
 * ```ts
 * checkOptions(options, corsOptions, (message) => new UsageError("ERR_MIDDLEWARE_OPTION", message));
 * // cors has no option "origin", did you mean "allowedOrigins"?
 * ```
 */
export function checkOptions(
  options: unknown,
  known: KnownOptions,
  fail: (message: string) => Error,
): void {
  if (options === undefined) return;
  const { owner, names, otherNames = {} } = known;
  if (options === null || typeof options !== "object" || Array.isArray(options)) {
    throw fail(`the options of ${owner} are ${describeValue(options)}, expected an object`);
  }
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const meant = Object.hasOwn(otherNames, name) ? otherNames[name] : closestName(name, names);
    const advice =
      meant === undefined ? `; it has ${names.join(", ")}` : `, did you mean "${meant}"?`;
    throw fail(`${owner} has no option ${JSON.stringify(name.slice(0, 100))}${advice}`);
  }
}
