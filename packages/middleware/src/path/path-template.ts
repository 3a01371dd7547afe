import { MiddlewareError } from "../errors.ts";
import type { LinearPattern } from "./linear-pattern.ts";

/** Writes the replacement of one match: `path`, and `query` when the template has one. */
export interface PathTemplate {
  readonly hasQuery: boolean;
  readonly path: (text: string, match: Int32Array) => string;
  readonly query: (text: string, match: Int32Array) => string;
}

type Part = string | number;

/**
 * Parses a replacement: `$1`, `${1}`, `${name}`, `$<name>` and `$&` stand for what a group matched, `$$` for a dollar.
 * What a group puts into the query is escaped, so that a path brings in no parameters of its own.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` for a group that the pattern does not have, and for control
 *   characters, backslashes and fragments
 */
export function parsePathTemplate(template: string, pattern: LinearPattern): PathTemplate {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f\\#]/.test(template)) {
    throw templateError(template, "has a control character, a backslash or a fragment");
  }
  const question = template.search(/\?/);
  const hasQuery = question !== -1;
  const path = parseParts(hasQuery ? template.slice(0, question) : template, pattern);
  const query = parseParts(hasQuery ? template.slice(question + 1) : "", pattern);
  return {
    hasQuery,
    path: (text, match) => path.map((part) => valueOf(part, text, match)).join(""),
    query: (text, match) =>
      query
        .map((part) =>
          typeof part === "string" ? part : valueOf(part, text, match).replace(/[&=+;]/g, escape),
        )
        .join(""),
  };
}

function parseParts(template: string, pattern: LinearPattern): readonly Part[] {
  const parts: Part[] = [];
  let position = 0;
  while (position < template.length) {
    const dollar = template.indexOf("$", position);
    const end = dollar === -1 ? template.length : dollar;
    if (end > position) parts.push(template.slice(position, end));
    if (dollar === -1) break;
    const rest = template.slice(dollar + 1);
    const reference = /^(?:[$&]|\d{1,2}|\{\w+\}|<\w+>)/.exec(rest)?.[0];
    if (reference === undefined)
      throw templateError(template, "has a $ that names no group; write $$");
    const [part, length] = readReference(reference, pattern, template);
    parts.push(part);
    position = dollar + 1 + length;
  }
  return parts;
}

function readReference(
  reference: string,
  pattern: LinearPattern,
  template: string,
): readonly [Part, number] {
  if (reference === "$") return ["$", 1];
  if (reference === "&") return [0, 1];
  const name = reference.replace(/^[{<]|[}>]$/g, "");
  if (/^\d/.test(name)) {
    if (Number(name) <= pattern.groupCount) return [Number(name), reference.length];
    // As in JavaScript, $12 is group 1 and a "2" where there is no group 12.
    const first = Number(name.charAt(0));
    if (name === reference && name.length === 2 && first <= pattern.groupCount) return [first, 1];
  }
  const index = pattern.groupNames.get(name);
  if (index === undefined) throw templateError(template, `names the group ${name}, which is none`);
  return [index, reference.length];
}

function valueOf(part: Part, text: string, match: Int32Array): string {
  if (typeof part === "string") return part;
  const start = match[part * 2] ?? -1;
  return start === -1 ? "" : text.slice(start, match[part * 2 + 1]);
}

function escape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

function templateError(template: string, what: string): MiddlewareError {
  return new MiddlewareError(
    "ERR_MIDDLEWARE_PATTERN",
    `the replacement ${JSON.stringify(template.slice(0, 100))} ${what}`,
  );
}
