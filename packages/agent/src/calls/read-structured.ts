import { isObject } from "@fetchwork/kit";
import { jsonrepair } from "jsonrepair";
import { extractCode } from "../files/extract-code.ts";
import type { ModelTool } from "../models/model-provider.ts";

/** Characters of text that is repaired. */
const longest = 1_048_576;

/**
 * Reads the arguments of a call that a model wrote as text: JSON that may be fenced, stand between
 * sentences or in the marks of a call, be written as another language has it, be wrapped, or be
 * encoded twice; or a list with bullets. A truncated value is not one. Returns `undefined` where
 * there is no value.
 */
export function readStructured(text: string, tool: ModelTool): unknown {
  if (text.length > longest) return undefined;
  const calls = callsIn(text).map((call) => valueIn(call));
  const values = calls.length > 0 ? calls : [valueIn(text)];
  if (values.includes(undefined)) return bulletsIn(text, tool);
  return values
    .flatMap((value) => (Array.isArray(value) && value.every(isCall) ? value : [value]))
    .map((value) => shaped(unwrapped(value, tool), tool))
    .reduce(joinValues);
}

/** A model may spread a list over several tool calls: their lists are joined in that order. */
export function joinValues(left: unknown, right: unknown): unknown {
  if (Array.isArray(left) && Array.isArray(right)) {
    const lists: readonly (readonly unknown[])[] = [left, right];
    return lists.flat();
  }
  if (!isObject(left) || !isObject(right)) return right;
  const joined: Record<string, unknown> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    joined[key] = key in left ? joinValues(left[key], value) : value;
  }
  return joined;
}

/** The calls that a chat template should have taken out of the text. */
function callsIn(text: string): readonly string[] {
  const tags = text.matchAll(
    /<(tool_call|function_call|function=[\w-]+)>([^]*?)<\/(?:tool_call|function_call|function)>/g,
  );
  const tagged = Array.from(tags, ([, , inside = ""]) => inside);
  if (tagged.length > 0) return tagged;
  const [, after] = /\[TOOL_CALLS\]([^]*)/.exec(text) ?? [];
  return after === undefined ? [] : [after];
}

function valueIn(text: string): unknown {
  const inside = extractCode(text, "answer.json");
  const candidates = [
    text.trim(),
    inside.problem === undefined ? inside.code.trim() : "",
    firstValue(text),
  ];
  for (const candidate of candidates) {
    const value = parse(candidate, JSON.parse);
    if (value !== undefined) return value;
  }
  const [whole = ""] = candidates.filter(isBalanced);
  return parse(whole, (json) => JSON.parse(jsonrepair(json)));
}

function parse(text: string, read: (text: string) => unknown): unknown {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    const value = read(text);
    return typeof value === "string" ? parse(value, read) : value;
  } catch {
    return undefined;
  }
}

/** The first object or list of a text, as far as its brackets are closed. */
function firstValue(text: string): string {
  const start = text.search(/[[{]/);
  if (start === -1) return "";
  const end = endOf(text, start);
  return end === undefined ? "" : text.slice(start, end);
}

function isBalanced(text: string): boolean {
  return /^[[{]/.test(text) && endOf(text, 0) === text.length;
}

/** Where the bracket is closed that opens at a place. Brackets in strings do not count. */
function endOf(text: string, start: number): number | undefined {
  const token = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'(?=\s*[,:}\]])|[[\]{}]/g;
  token.lastIndex = start;
  let depth = 0;
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === "{" || found === "[") depth += 1;
    else if (found === "}" || found === "]") depth -= 1;
    if (depth === 0) return index + found.length;
  }
  return undefined;
}

const wrappers = ["arguments", "parameters", "input"] as const;

function isCall(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && wrappers.some((name) => name in value) && "name" in value;
}

/** The arguments in a call that was written out with its name. */
function unwrapped(value: unknown, tool: ModelTool): unknown {
  if (!isObject(value)) return value;
  const properties = propertiesOf(tool);
  const wrapper = wrappers.find((name) => name in value && !(name in properties));
  if (wrapper === undefined) return value;
  if ("name" in value && value["name"] !== tool.name) return value;
  const inside = value[wrapper];
  return typeof inside === "string" ? (parse(inside, JSON.parse) ?? value) : inside;
}

/** Fields that are lists or objects written as text, and one entry in place of a list of one. */
function shaped(value: unknown, tool: ModelTool): unknown {
  if (!isObject(value)) return value;
  const properties = propertiesOf(tool);
  const fields = Object.entries(value).map(([name, given]) => {
    const property = properties[name];
    const type = isObject(property) ? property["type"] : undefined;
    const read =
      (type === "array" || type === "object") && typeof given === "string"
        ? (parse(given.trim(), JSON.parse) ?? given)
        : given;
    return [name, type === "array" && isObject(read) ? [read] : read];
  });
  return Object.fromEntries(fields) as unknown;
}

/** The entries of a list with bullets or numbers, where a list of paths is wanted. */
function bulletsIn(text: string, tool: ModelTool): unknown {
  const [list, ...others] = Object.entries(propertiesOf(tool)).filter(
    ([, property]) => isObject(property) && property["type"] === "array",
  );
  if (list === undefined || others.length > 0) return undefined;
  const lines = text.matchAll(/^\s*(?:[-*•]|\d{1,4}[.)])\s+[`"*]*([^\s`"*:]+)[`"*]*/gm);
  const paths = Array.from(lines, ([, path = ""]) => path).filter((path) => /[./]/.test(path));
  if (paths.length === 0) return undefined;
  return { [list[0]]: paths.map((path) => ({ path })) };
}

function propertiesOf({ parameters }: ModelTool): Readonly<Record<string, unknown>> {
  const { properties } = parameters;
  return isObject(properties) ? properties : {};
}
