import { isObject } from "@fetchwork/kit";
import { InputError, reservedError } from "../api/errors.ts";
import { isMetaField } from "../api/field-path.ts";
import { isPlainObject } from "../is-plain-object.ts";

const noNames: ReadonlySet<string> = new Set();
const maxDepth = 200;
const maxBytes = 16 * 1024 * 1024;

/**
 * Turns a document into JSON text after checking that the text holds all of it.
 *
 * Accepted are plain objects, arrays, strings, finite numbers, booleans and null. A field that is
 * `undefined` is left out; `-0` becomes `0`. Everything that JSON would lose or that not every
 * engine can keep is refused: other numbers, bigints, functions, symbols, class instances
 * (`Date` and `Map` too), holes and `undefined` in arrays, references to an enclosing object,
 * the character U+0000 and lone surrogates, more than 200 levels, and more than 16 MiB of text.
 *
 * `reserved` are names of top-level fields that are refused besides those of every document.
 *
 * @throws {InputError} `ERR_DOCUMENTS_VALUE` or `ERR_DOCUMENTS_NAME`, with the path.
 */
export function toJsonText(document: unknown, reserved: ReadonlySet<string> = noNames): string {
  if (!isPlainObject(document)) {
    throw new InputError(
      "ERR_DOCUMENTS_VALUE",
      `a document must be a plain object, got ${kindOf(document)}`,
    );
  }
  for (const name of Object.keys(document)) checkTopLevelName(name, reserved);
  checkObject(document, "", [document]);
  const text = JSON.stringify(document);
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) {
    throw new InputError("ERR_DOCUMENTS_VALUE", "the document is larger than 16 MiB of JSON text");
  }
  return text;
}

/**
 * Reads the JSON text of a document.
 *
 * @throws {SyntaxError} For any other text, which the message may quote.
 */
export function parseJsonText(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  if (isObject(value)) return value;
  throw new SyntaxError("the JSON text is not an object");
}

function checkTopLevelName(name: string, reserved: ReadonlySet<string>): void {
  if (isMetaField(name) || reserved.has(name)) {
    throw reservedError(name);
  }
  if (name.startsWith("$")) {
    throw new InputError(
      "ERR_DOCUMENTS_NAME",
      `the field ${JSON.stringify(name.slice(0, 64))} begins with "$", which is reserved`,
      name,
    );
  }
}

function checkObject(
  object: Readonly<Record<string, unknown>>,
  path: string,
  ancestors: object[],
): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (name.includes("\0") || !name.isWellFormed()) {
      throw new InputError(
        "ERR_DOCUMENTS_NAME",
        `a field name in ${path === "" ? "the document" : path} has U+0000 or a lone surrogate`,
        path,
      );
    }
    if (value !== undefined) checkValue(value, path === "" ? name : `${path}.${name}`, ancestors);
  }
}

function checkValue(value: unknown, path: string, ancestors: object[]): void {
  switch (typeof value) {
    case "boolean":
      return;
    case "number":
      if (Number.isFinite(value)) return;
      break;
    case "string":
      if (value.isWellFormed() && !value.includes("\0")) return;
      throw refused(path, "a string with U+0000 or a lone surrogate");
    case "object":
      if (value === null) return;
      checkNested(value, path, ancestors);
      return;
    default:
  }
  throw refused(path, kindOf(value));
}

function checkNested(value: object, path: string, ancestors: object[]): void {
  if (ancestors.includes(value)) throw refused(path, "a reference to an object around it");
  if (ancestors.length >= maxDepth) throw refused(path, `nested deeper than ${maxDepth} levels`);
  ancestors.push(value);
  if (Array.isArray(value)) {
    // By index, because forEach and Object.keys pass over holes, which JSON turns into null.
    for (let index = 0; index < value.length; index += 1) {
      checkValue(value[index], `${path}[${index}]`, ancestors);
    }
  } else if (isPlainObject(value)) {
    checkObject(value, path, ancestors);
  } else {
    throw refused(path, kindOf(value));
  }
  ancestors.pop();
}

function refused(path: string, what: string): InputError {
  const shown = path.length > 120 ? `${path.slice(0, 120)}…` : path;
  return new InputError(
    "ERR_DOCUMENTS_VALUE",
    `the field ${shown} must be JSON, got ${what}`,
    shown,
  );
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (Number.isFinite(value)) return "a number";
  if (typeof value === "number") return Number.isNaN(value) ? "NaN" : "an infinite number";
  if (typeof value !== "object") return value === undefined ? "undefined" : `a ${typeof value}`;
  const constructor: unknown = Reflect.get(value, "constructor");
  return typeof constructor === "function" ? `an instance of ${constructor.name}` : "an object";
}
