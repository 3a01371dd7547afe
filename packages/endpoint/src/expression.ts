import { fail } from "./errors.ts";
import { getOwn, isObject, isPlainObject, type PlainObject } from "./own-property.ts";
import { encodeReserved, encodeUnreserved } from "./percent-encoding.ts";
import { type Scalar, scalarText } from "./scalar.ts";

/**
 * Value of a variable (RFC 6570 section 2.3): a text, a list of texts, or an associative array
 * of texts. `null`, `undefined`, an empty list and an empty object are undefined; such members of a
 * list or object are skipped.
 */
export type TemplateValue =
  | Scalar
  | readonly (Scalar | null | undefined)[]
  | { readonly [key: string]: Scalar | null | undefined }
  | null
  | undefined;

/** How an operator writes its variables (RFC 6570 appendix A). */
export interface Operator {
  /** Written before the first defined variable. */
  readonly first: string;
  /** Written between defined variables, and between members of an exploded one. */
  readonly separator: string;
  /** Whether `name=` precedes a value. */
  readonly isNamed: boolean;
  /** Encodes a value. */
  readonly encode: (text: string) => string;
}

/** One variable of an expression (RFC 6570 section 2.3). */
export interface Variable {
  readonly name: string;
  /** `*`: each member on its own (RFC 6570 section 2.4.2). */
  readonly isExploded: boolean;
  /** `:n`: maximum characters of the value (RFC 6570 section 2.4.1); 0 is all. */
  readonly prefix: number;
}

/** `{…}` in a template (RFC 6570 section 2.2). */
export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
  /** Position of its `{` or `:`. */
  readonly position: number;
  /** Whether it is in the path, or in the authority before it. */
  readonly isPath: boolean;
}

/** Returns the operator of a symbol, or of none (RFC 6570 sections 3.2.2 to 3.2.9). */
export function operatorOf(symbol: string): Operator {
  return {
    first: symbol === "+" ? "" : symbol,
    separator: symbol === "?" ? "&" : /[./;&]/.test(symbol) ? symbol : ",",
    isNamed: /[;?&]/.test(symbol),
    encode: /[+#]/.test(symbol) ? encodeReserved : encodeUnreserved,
  };
}

/**
 * Expands one expression (RFC 6570 section 3.2.1).
 *
 * @returns `undefined` when no variable of it is defined.
 */
export function expandExpression(
  { operator, variables, position, isPath }: Expression,
  values: PlainObject,
  isStrict: boolean,
): string | undefined {
  let result: string | undefined;
  for (const variable of variables) {
    const value = getOwn(values, variable.name);
    const text = writeVariable(operator, variable, value);
    const isWrong = text === undefined ? operator.first === "" : isPath && isHollow(value);
    if (isStrict && isWrong) {
      const fault = text === undefined ? "missing" : "empty or not finite";
      fail("ERR_ENDPOINT_MISSING", `the variable "${variable.name}" is ${fault}`, { position });
    }
    if (text !== undefined) {
      result = result === undefined ? operator.first + text : result + operator.separator + text;
    }
  }
  return result;
}

/** Whether a value or member would leave a path segment empty, or is not finite. */
function isHollow(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value);
  return value === "" || (isObject(value) && Object.values(value).some(isHollow));
}

/** Writes one variable, or `undefined` when it is undefined. */
export function writeVariable(
  operator: Operator,
  { name, isExploded, prefix }: Variable,
  value: unknown,
): string | undefined {
  if (value === undefined || value === null) return undefined;
  const { encode, isNamed, separator } = operator;
  const isList = Array.isArray(value);
  if (prefix > 0 || (!isList && !isPlainObject(value))) {
    // A list has no start: `{list:3}` is an error (RFC 6570 section 2.4.1).
    const text = scalarText(value, name);
    // Characters, not code units: no surrogate pair is split (RFC 6570 section 2.4.1).
    const part = encode(prefix > 0 ? Array.from(text).slice(0, prefix).join("") : text);
    return isNamed ? named(operator, name, part) : part;
  }
  const members: string[] = [];
  const pairs: Iterable<readonly [unknown, unknown]> = isList
    ? value.entries()
    : Object.entries(value);
  for (const [key, member] of pairs) {
    if (member === undefined || member === null) continue;
    const text = encode(scalarText(member, name));
    const label = isList ? name : encode(String(key));
    if (isExploded && isNamed) members.push(named(operator, label, text));
    else members.push(isList ? text : label + (isExploded ? "=" : ",") + text);
  }
  if (members.length === 0) return undefined;
  const text = members.join(isExploded ? separator : ",");
  return isNamed && !isExploded ? named(operator, name, text) : text;
}

/** An empty value keeps its `=` in a query only (RFC 6570 sections 3.2.7 to 3.2.9). */
function named({ separator }: Operator, name: string, text: string): string {
  return text === "" && separator === ";" ? name : `${name}=${text}`;
}
