import { MiddlewareError } from "../errors.ts";

/** Writes the replacement of one match: `path`, and `query` when the template has one. */
export interface PathTemplate {
  readonly path: (match: RegExpMatchArray) => string;
  readonly query: ((match: RegExpMatchArray) => string) | undefined;
}

/** The groups of a pattern: how many, and the names of those that have one. */
export interface PatternGroups {
  readonly count: number;
  readonly names: readonly string[];
}

/** Text as it is, or a reference to a group by number or name. */
type Part = { readonly text: string } | { readonly group: number | string };

/**
 * Parses a replacement: `$1`, `${1}`, `${name}`, `$<name>` and `$&` stand for what a group matched,
 * `$$` for a dollar. As in JavaScript, `$12` is group 1 and a "2" unless the pattern has 12 groups.
 * Text that a group adds to the query is escaped, so that a path cannot add parameters.
 *
 * @param groups - The groups of the pattern; undefined when they are unknown, and then a missing
 * group is empty.
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` for a group that the pattern does not have, and
 *   for control characters, backslashes and fragments
 */
export function parsePathTemplate(
  template: string,
  groups: PatternGroups | undefined,
): PathTemplate {
  // oxlint-disable-next-line no-control-regex
  if (/[\0-\x1f\x7f\\#]/.test(template)) {
    throw templateError(template, "has a control character, a backslash or a fragment");
  }
  const [path = "", ...rest] = template.split("?");
  const pathParts = parseParts(path, template, groups);
  if (rest.length === 0) return { path: (match) => fill(pathParts, match), query: undefined };
  const queryParts = parseParts(rest.join("?"), template, groups);
  return {
    path: (match) => fill(pathParts, match),
    query: (match) => fill(queryParts, match, escapeInQuery),
  };
}

function parseParts(
  text: string,
  template: string,
  groups: PatternGroups | undefined,
): readonly Part[] {
  const parts: Part[] = [];
  for (const [token] of text.matchAll(/[^$]+|\$(?:[$&]|\d{1,2}|\{\w+\}|<\w+>)?/g)) {
    if (token === "$") throw templateError(template, "has a $ without a group; write $$");
    if (token === "$$") parts.push({ text: "$" });
    else if (token === "$&") parts.push({ group: 0 });
    else if (token.startsWith("$")) {
      const name = token.replace(/^\$[{<]?|[}>]$/g, "");
      const group = /^\d+$/.test(name) ? Number(name) : name;
      if (groups !== undefined && !hasGroup(groups, group, token)) {
        throw templateError(template, `names the group ${name}, which the pattern does not have`);
      }
      parts.push({ group });
    } else parts.push({ text: token });
  }
  return parts;
}

function hasGroup({ count, names }: PatternGroups, group: number | string, token: string): boolean {
  if (typeof group === "string") return names.includes(group);
  return group <= count || (/^\$\d\d$/.test(token) && Math.floor(group / 10) <= count);
}

function fill(
  parts: readonly Part[],
  match: RegExpMatchArray,
  escape: (value: string) => string = (value) => value,
): string {
  let text = "";
  for (const part of parts) text += "text" in part ? part.text : escape(valueOf(part.group, match));
  return text;
}

function valueOf(group: number | string, match: RegExpMatchArray): string {
  if (typeof group === "string") return match.groups?.[group] ?? "";
  if (group < match.length || group < 10) return match[group] ?? "";
  return (match[Math.floor(group / 10)] ?? "") + String(group % 10);
}

function escapeInQuery(value: string): string {
  return value.replace(
    /[&=+;]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function templateError(template: string, what: string): MiddlewareError {
  return new MiddlewareError(
    "ERR_MIDDLEWARE_PATTERN",
    `the replacement ${JSON.stringify(template.slice(0, 100))} ${what}`,
  );
}
