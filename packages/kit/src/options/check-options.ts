import { closestName } from "./closest-name.ts";

/**
 * Throws when an object of options has a name that is not an option. So a typo never switches off a
 * protection silently. The message names the option that was probably meant. Options may be
 * `undefined` as a whole.
 *
 * @param owner - Name of the function, for the message: `cors`, `serve`.
 * @param names - All options of the function.
 * @throws When `options` is not an object or has an own enumerable key that is not one of `names`.
 */
export type OptionCheck = <Options extends object>(
  owner: string,
  options: Options | undefined,
  names: readonly (keyof NoInfer<Options> & string)[],
) => void;

/**
 * Makes the check of option names of a package.
 *
 * @param fail - Makes the error to throw of the message.
 * @example
 * ```ts
 * const checkOptions = createOptionCheck((message) => new UsageError("ERR_MIDDLEWARE_OPTION", message));
 * checkOptions("cors", options, ["allowedOrigins", "maxAge"]);
 * // cors has no option "allowedOrigin", did you mean "allowedOrigins"?
 * ```
 */
export function createOptionCheck(fail: (message: string) => Error): OptionCheck {
  return (owner, options: unknown, names: readonly string[]) => {
    if (options === undefined) return;
    if (options === null || typeof options !== "object" || Array.isArray(options)) {
      throw fail(`the options of ${owner} must be an object, got ${describeValue(options)}`);
    }
    for (const name of Object.keys(options)) {
      if (names.includes(name)) continue;
      const meant = closestName(name, names);
      const advice =
        meant === undefined ? `; it has ${names.join(", ")}` : `, did you mean "${meant}"?`;
      throw fail(`${owner} has no option ${JSON.stringify(name.slice(0, 100))}${advice}`);
    }
  };
}

/**
 * Describes a value for the message of an error: a text in quotation marks, truncated after 100
 * characters; numbers and Booleans as they are; anything else by its type. Do not use it for values
 * that may be secret.
 */
export function describeValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 100));
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "bigint") return `${value}n`.slice(0, 100);
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
