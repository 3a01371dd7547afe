import { isObject } from "@fetchwork/kit";

const backslash = 92;

/**
 * Whether an object in a JSON text has a name twice. Parsers differ in what they make of it (RFC 8259 section 4), so what
 * one of them checks need not be what another one uses.
 *
 * Every member of an object has one colon in the text, and one place in the value, unless another one has taken it.
 *
 * @param text - Valid JSON.
 * @param value - What `JSON.parse` has made of it.
 */
export function hasRepeatedNames(text: string, value: unknown): boolean {
  return countColons(text) !== countMembers(value);
}

/** Counts the colons outside of strings. */
function countColons(text: string): number {
  let count = 0;
  for (let at = 0; ;) {
    const begin = text.indexOf('"', at);
    const end = begin === -1 ? text.length : begin;
    for (let index = at; index < end; index += 1) if (text[index] === ":") count += 1;
    if (begin === -1) return count;
    at = endOfString(text, begin) + 1;
  }
}

/** Finds the quote that ends a string: the first one behind an even number of backslashes. */
function endOfString(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((at - before) % 2 === 1) return at;
  }
  return text.length;
}

/** Counts the members of all objects; without recursion, since a text may be nested without end. */
function countMembers(value: unknown): number {
  let count = 0;
  const waiting = [value];
  while (waiting.length > 0) {
    const one = waiting.pop();
    const isNamed = isObject(one);
    if (!isNamed && !Array.isArray(one)) continue;
    const members: readonly unknown[] = isNamed ? Object.values(one) : one;
    if (isNamed) count += members.length;
    for (const member of members) {
      if (typeof member === "object" && member !== null) waiting.push(member);
    }
  }
  return count;
}
