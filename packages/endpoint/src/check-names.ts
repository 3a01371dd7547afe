import { fail } from "./errors.ts";
import { isObject } from "./own-property.ts";

/** Refuses unknown options. Not for options of a request, where others are parameters. */
export function checkNames(owner: string, options: unknown, names: readonly string[]): void {
  if (!isObject(options)) {
    fail("ERR_ENDPOINT_OPTION", `the options of ${owner} are not an object`);
  }
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong !== undefined) {
    fail("ERR_ENDPOINT_OPTION", `${owner} has no option "${wrong}"; it has ${names.join(", ")}`);
  }
}

/** Refuses a value that is not one of the choices of an option. */
export function checkChoice(name: string, value: unknown, choices: readonly string[]): void {
  if (typeof value === "string" && choices.includes(value)) return;
  const given = typeof value === "string" ? `"${value}"` : String(value);
  fail("ERR_ENDPOINT_OPTION", `${name} must be ${choices.join(" or ")}, got ${given}`);
}
