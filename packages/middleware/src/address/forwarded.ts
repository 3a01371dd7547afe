import { parseIP } from "@fetchwork/kit";

/** One hop of a `Forwarded` header (RFC 7239, 4): lower-case names, values without quotes. */
export type ForwardedElement = ReadonlyMap<string, string>;

/** More than any chain of proxies adds; what is longer is an attack. */
const maxElements = 100;

const tokenCharacters = /[!#$%&'*+\-.^_`|~\dA-Za-z]/;

/**
 * Reads a `Forwarded` header: one element per proxy, the nearest last. Returns undefined when it
 * does not follow the grammar of RFC 7239, 4, names a parameter twice, or has more than 100
 * elements. No part of it can be relied on then.
 *
 * @param value - The header; several fields joined by commas are one header.
 */
export function parseForwarded(value: string): readonly ForwardedElement[] | undefined {
  const elements: ForwardedElement[] = [];
  let element = new Map<string, string>();
  let index = skipBlanks(value, 0);
  while (index < value.length) {
    const character = value[index];
    if (character === "," || character === ";") {
      if (character === ",") {
        if (element.size > 0) elements.push(element);
        if (elements.length > maxElements) return undefined;
        element = new Map();
      }
      index = skipBlanks(value, index + 1);
      continue;
    }
    const name = readToken(value, index);
    if (name === "" || value[index + name.length] !== "=") return undefined;
    const read = readValue(value, index + name.length + 1);
    if (read === undefined || element.has(name.toLowerCase())) return undefined;
    element.set(name.toLowerCase(), read.value);
    index = skipBlanks(value, read.end);
    const following = value[index];
    if (following !== undefined && following !== "," && following !== ";") return undefined;
  }
  if (element.size > 0) elements.push(element);
  return elements.length > maxElements ? undefined : elements;
}

/**
 * Address of a node identifier (RFC 7239, 6), without its port and brackets: `192.0.2.1:80`,
 * `[2001:db8::1]:4711`. `undefined` for `unknown`, an obfuscated identifier (`_proxy`) and
 * everything else.
 */
export function addressOfNode(node: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(node)?.[1];
  const address = bracketed ?? /^([\d.]+)(?::\d{1,5})?$/.exec(node)?.[1] ?? node;
  if ((bracketed !== undefined) !== address.includes(":")) return undefined;
  return parseIP(address) === undefined ? undefined : address;
}

/**
 * Entries of an `X-Forwarded-For` header, trimmed, the nearest proxy's last. Entries need not be
 * addresses. Only the last 100 are returned: no proxy has added those before them.
 */
export function parseForwardedFor(value: string): readonly string[] {
  const entries: string[] = [];
  let end = value.length;
  while (end >= 0 && entries.length < maxElements) {
    const comma = end === 0 ? -1 : value.lastIndexOf(",", end - 1);
    entries.push(value.slice(comma + 1, end).trim());
    end = comma;
  }
  return entries.toReversed();
}

function skipBlanks(text: string, start: number): number {
  let index = start;
  while (text[index] === " " || text[index] === "\t") index += 1;
  return index;
}

function readToken(text: string, start: number): string {
  let end = start;
  while (end < text.length && tokenCharacters.test(text.charAt(end))) end += 1;
  return text.slice(start, end);
}

/** A token or a quoted string (RFC 9110, 5.6.4), and where it ends. */
function readValue(text: string, start: number): { value: string; end: number } | undefined {
  if (text[start] !== '"') {
    const value = readToken(text, start);
    return value === "" ? undefined : { value, end: start + value.length };
  }
  let value = "";
  for (let index = start + 1; index < text.length; index += 1) {
    const character = text.charAt(index);
    if (character === '"') return { value, end: index + 1 };
    if (character === "\\") index += 1;
    value += text.charAt(index);
  }
  return undefined;
}
