import { fieldError, type FieldError } from "../field-error.ts";

/** Names that a refusal repeats: few and short, so that it does not outgrow the request. */
const maxNames = 10;
const maxNameLength = 64;

/** Describes parameters that a route does not have. */
export function unknownParameters(names: Iterable<string>): readonly FieldError[] {
  return [...new Set(names)].slice(0, maxNames).map((name) => {
    const shown = name.slice(0, maxNameLength);
    return fieldError(shown, "unknown", `${shown} is not a parameter here`);
  });
}
