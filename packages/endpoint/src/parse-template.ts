import { fail } from "./errors.ts";
import { expandExpression, type Expression, operatorOf, type Variable } from "./expression.ts";
import type { PlainObject } from "./own-property.ts";
import { encodeReserved } from "./percent-encoding.ts";

/** A template, ready to be expanded: a literal, and expressions with a literal after each. */
export interface Template {
  readonly head: string;
  readonly parts: readonly (readonly [Expression, string])[];
}

/** How {@link expandTemplate} treats what is missing. */
export interface Missing {
  /** Whether a missing variable of `{a}` and `{+a}` is an error, and an empty value in a path. */
  readonly isStrict: boolean;
  /** Written where such an expression has nothing to write. */
  readonly hole: string;
}

/**
 * An expression, a `:name`, the end of a path, or literals (RFC 6570 section 2.1; `'` is in since
 * erratum 6937). Each character is looked at once: no alternative begins like another.
 */
const token =
  /\{([+#./;?&]?)[^{}]*\}|:([A-Za-z_]\w*)|[:?#]|(?:[^\p{Cc} "%:?#<>\\^`{|}]|%[\dA-Fa-f]{2})+/uy;
/** RFC 6570 sections 2.3 and 2.4. */
const variable = /((?:\w|%[\da-f]{2})(?:\.?(?:\w|%[\da-f]{2}))*)(?:(\*)|:([1-9]\d{0,3}))?/iy;

/**
 * Reads a URI template in one pass (RFC 6570 section 2).
 *
 * @param colonsFrom Where `:name` begins to mean `{name}`, until the end of the path; by default
 * nowhere.
 * @throws {EndpointError} `ERR_ENDPOINT_TEMPLATE` with the position, when it is malformed.
 */
export function parseTemplate(text: string, colonsFrom: number = text.length): Template {
  let head = "";
  let isPath = true;
  const parts: [Expression, string][] = [];
  for (let index = 0; index < text.length;) {
    const [whole, symbol, name] = matchAt(token, text, index) ?? malformed(text, index);
    const isColon = index >= colonsFrom && isPath && !/[\w}:]/.test(text.charAt(index - 1));
    const last = parts.at(-1);
    if (symbol !== undefined) {
      parts.push([
        { ...parseExpression(text, index, symbol), isPath: isPath && !/[?#&]/.test(symbol) },
        "",
      ]);
    } else if (isColon && name !== undefined) {
      const variables = [{ name, isExploded: false, prefix: 0 }];
      parts.push([{ operator: operatorOf(""), variables, position: index, isPath }, ""]);
    } else if (last === undefined) {
      head += encodeReserved(whole);
    } else {
      last[1] += encodeReserved(whole);
    }
    if (/^\{?[?#&]/.test(whole)) isPath = false;
    index += whole.length;
  }
  return { head, parts };
}

/** Expands a template in time linear in the template and the values. */
export function expandTemplate(
  { head, parts }: Template,
  values: PlainObject,
  { isStrict, hole }: Missing,
): string {
  let result = head;
  for (const [expression, literal] of parts) {
    const text = expandExpression(expression, values, isStrict);
    result += (text ?? (expression.operator.first === "" ? hole : "")) + literal;
  }
  return result;
}

function parseExpression(
  text: string,
  position: number,
  symbol: string,
): Omit<Expression, "isPath"> {
  const variables: Variable[] = [];
  let index = position + symbol.length;
  do {
    index += 1;
    const [whole, name = "", star, prefix = 0] =
      matchAt(variable, text, index) ?? malformed(text, index);
    variables.push({ name, isExploded: star !== undefined, prefix: Number(prefix) });
    index += whole.length;
  } while (text.charAt(index) === ",");
  if (text.charAt(index) !== "}") malformed(text, index);
  return { operator: operatorOf(symbol), variables, position };
}

function matchAt(sticky: RegExp, text: string, index: number): RegExpExecArray | null {
  sticky.lastIndex = index;
  return sticky.exec(text);
}

function malformed(text: string, position: number): never {
  return fail(
    "ERR_ENDPOINT_TEMPLATE",
    `unexpected "${text.charAt(position)}" at position ${position}`,
    { position },
  );
}
