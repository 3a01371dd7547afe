import { boundedCache } from "./bounded-cache.ts";
import { checkChoice, checkNames } from "./check-names.ts";
import { fail } from "./errors.ts";
import type { TemplateValue } from "./expression.ts";
import { isObject } from "./own-property.ts";
import { expandTemplate, parseTemplate } from "./parse-template.ts";
import type { TemplateVariables } from "./route-variables.ts";

/** Options of {@link expand}. */
export interface ExpandOptions {
  /**
   * `"throw"` refuses a missing variable of `{a}` and `{+a}`. In a path it also refuses an empty
   * text or a number that is not finite. `"empty"` writes nothing for a missing one (RFC 6570
   * section 3.2.1). Default: `"empty"`.
   */
  readonly onMissing?: "empty" | "throw" | undefined;
}

const parsed = /* @__PURE__ */ boundedCache((template: string) => parseTemplate(template));

/**
 * Expands a URI template of any level (RFC 6570).
 *
 * Takes time linear in the template and the values. Templates are parsed once: the last 500 are
 * remembered.
 *
 * @throws {EndpointError} `ERR_ENDPOINT_TEMPLATE` for a malformed template, with its `position`;
 * `ERR_ENDPOINT_VALUE` for a value without a text, or a prefix of a list; `ERR_ENDPOINT_MISSING`
 * with `onMissing: "throw"`.
 *
 * @example
 * expand("/search{?q,page,tag*}", { q: "a b", tag: ["x", "y"] }); // "/search?q=a%20b&tag=x&tag=y"
 */
export function expand<const T extends string>(
  template: T,
  variables: TemplateVariables<T>,
  options?: ExpandOptions,
): string;
export function expand(
  template: string,
  variables: Readonly<Record<string, TemplateValue>>,
  options: ExpandOptions = {},
): string {
  checkNames("expand", options, ["onMissing"]);
  const { onMissing = "empty" } = options;
  checkChoice("onMissing", onMissing, ["throw", "empty"]);
  if (!isObject(variables)) fail("ERR_ENDPOINT_OPTION", "the variables are not an object");
  return expandTemplate(parsed(template), variables, { isStrict: onMissing === "throw", hole: "" });
}
