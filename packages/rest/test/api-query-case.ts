import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { UntypedWhere } from "@fetchwork/documents";
import { z } from "zod";
import type { FieldError } from "../src/field-error.ts";
import { createListReader } from "../src/plan/list-query.ts";
import { Problem } from "../src/problem.ts";
import { listParameter, type ListParameter } from "../src/resource/list-parameter.ts";
import type { ListRules, StandardParameter } from "../src/resource/list-rules.ts";
import { validate } from "../src/schema.ts";

/** What a parameter or field is, in the words of the recorded parsers. */
interface Described {
  readonly type?: string | readonly string[];
  readonly paths?: readonly string[];
  readonly operator?: string;
  readonly enum?: readonly string[];
  readonly match?: string;
  readonly required?: boolean;
  readonly trim?: boolean;
  readonly lowercase?: boolean;
  readonly default?: unknown;
  readonly min?: number;
  readonly max?: number;
  readonly minlength?: number;
  readonly maxlength?: number;
}

/** One recorded case. */
export interface ApiQueryCase {
  readonly lib: "body" | "query";
  readonly schema: Readonly<Record<string, Described | string>>;
  readonly options?: Readonly<Record<string, boolean | string>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: {
    readonly error?: Readonly<Record<string, unknown>>;
    readonly body?: unknown;
    readonly query?: unknown;
    readonly select?: Readonly<Record<string, number>>;
    readonly cursor?: unknown;
  };
}

/** Whether `FETCHWORK_VECTORS` names another folder. */
export const areGiven: boolean = process.env["FETCHWORK_VECTORS"] !== undefined;

/**
 * Reads the recorded cases: those of the package, or of the folder that `FETCHWORK_VECTORS` names.
 */
export function readCases(): readonly ApiQueryCase[] {
  const own = join(import.meta.dirname, "vectors");
  const given = process.env["FETCHWORK_VECTORS"] ?? own;
  const inside = join(given, "api-query");
  const file = join(existsSync(inside) ? inside : given, "cases.jsonl");
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as ApiQueryCase);
}

/** Names a case for the table of those that our decisions change. */
export function keyOf({ lib, schema, options = {}, input }: ApiQueryCase): string {
  const parts = [schema, options, input].map((part) => JSON.stringify(part));
  return [lib, ...parts.filter((part) => part !== "{}")].join(" ");
}

/** What the recorded parser gave, in the parts that ours has too. */
export function theirs({ expect }: ApiQueryCase): unknown {
  const { error, select, ...rest } = expect;
  if (!error) return select ? { ...rest, select } : rest;
  const { name, param, valid, message } = error;
  return { error: { name, param, valid, message } };
}

/** What ours returns, in the form in which theirs is recorded. */
export async function ours(one: ApiQueryCase): Promise<unknown> {
  try {
    return one.lib === "body" ? await readBodyOf(one) : readQueryOf(one);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { error: error.errors[0] satisfies FieldError | undefined };
  }
}

async function readBodyOf({ schema, input }: ApiQueryCase): Promise<unknown> {
  const fields = Object.entries(schema).map(([name, one]) => [name, schemaOf(one)] as const);
  return { body: await validate(z.object(Object.fromEntries(fields)), input) };
}

const fieldsOfAll = ["id", "a", "b", "name", "idx", "createdAt"];

function readQueryOf({ schema, options = {}, input }: ApiQueryCase): unknown {
  const { limit, near, sort, ...others } = schema;
  const without: StandardParameter[] = options["page"] === false ? ["page"] : [];
  if (Object.hasOwn(others, "after")) without.push("after"); // A cursor, unless it is something else.
  const rules: ListRules = {
    sortable: fieldsOfAll,
    selectable: fieldsOfAll,
    defaultSort: typeof sort === "string" ? [sort] : ["-createdAt"],
    defaultLimit: typeof limit === "object" ? Number(limit.default) : undefined,
    maxLimit: typeof limit === "object" ? limit.max : undefined,
    geo: options["near"] === true ? placeOf(near) : undefined,
    without,
    parameters: Object.fromEntries(
      Object.entries(others).map(([name, one]) => [name, parameterOf(name, one)]),
    ),
  };
  const parameters = new URLSearchParams(
    Object.entries(input).flatMap(([name, value]) =>
      [value].flat().map((text): [string, string] => [name, String(text)]),
    ),
  );
  const read = createListReader(rules)(parameters);
  const order = read.sort.map((key) =>
    key.startsWith("-") ? [key.slice(1), -1] : ([key, 1] as const),
  );
  return {
    query: {
      ...(read.q === undefined ? {} : { q: read.q }),
      ...(read.where === undefined ? {} : inTheirWords(read.where)),
      ...(read.near ? { [read.near.field]: nearInTheirWords(read.near) } : {}),
    },
    select: selected(read.fields, input["fields"]),
    cursor: {
      ...(options["page"] === false ? {} : { skip: (read.page - 1) * read.limit }),
      limit: read.limit,
      ...(read.near ? {} : { sort: Object.fromEntries(order) }),
    },
  };
}

function placeOf(near: Described | string | undefined): string {
  return (typeof near === "object" ? near.paths?.[0] : undefined) ?? "location";
}

/** A parameter as a user of ours defines what theirs describes. */
function parameterOf(name: string, described: Described | string): ListParameter {
  if (typeof described === "string") throw new Error(`${described} describes nothing`);
  const { paths = [name], required, type } = described;
  // There is nothing like a regular expression in ours; the beginning of a text comes nearest.
  const operator = type === "RegExp" ? "prefix" : (described.operator ?? "$eq");
  const operators: Record<string, string> = {
    $eq: "eq",
    $ne: "ne",
    $gte: "gte",
    $lte: "lte",
    $exists: "exists",
  };
  const ofMany: Record<string, string> = { eq: "in", ne: "notIn" };
  const one = operators[operator] ?? operator;
  return listParameter({
    required,
    schema: schemaOf(described, { isParameter: true }),
    where(value): UntypedWhere {
      const single: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
      const condition = { [Array.isArray(single) ? (ofMany[one] ?? one) : one]: single };
      const all = paths.map((path) => ({ [path]: condition }));
      return all.length === 1 && all[0] ? all[0] : { or: all };
    },
  });
}

function schemaOf(
  described: Described | string,
  { isParameter = false }: { readonly isParameter?: boolean } = {},
): z.ZodType {
  if (typeof described === "string") throw new Error(`${described} describes nothing`);
  const { default: usual, required = false, type = "String" } = described;
  const schema: z.ZodType = Array.isArray(type)
    ? z.array(z.string())
    : type === "Number"
      ? numberOf(described)
      : type === "Boolean"
        ? z.boolean()
        : type === "Date"
          ? z.union([z.iso.date(), z.iso.datetime()])
          : textOf(described);
  if (usual !== undefined) return schema.default(usual as never);
  return required || isParameter ? schema : schema.optional();
}

function numberOf({ max = Infinity, min = -Infinity }: Described): z.ZodType {
  return z.number().min(min).max(max);
}

function textOf(described: Described): z.ZodType {
  const { lowercase = false, match, maxlength, minlength } = described;
  if (described.enum) return z.enum(described.enum);
  let text = z.string().trim();
  if (match !== undefined) text = text.regex(new RegExp(match));
  if (minlength !== undefined) text = text.min(minlength);
  if (maxlength !== undefined) text = text.max(maxlength);
  return lowercase ? text.toLowerCase() : text;
}

function inTheirWords(where: UntypedWhere): object {
  const theirOperators: Record<string, string> = {
    gte: "$gte",
    lte: "$lte",
    ne: "$ne",
    in: "$in",
    notIn: "$nin",
    exists: "$exists",
  };
  return Object.fromEntries(
    Object.entries(where).map(([field, condition]) => {
      if (Array.isArray(condition)) return [`$${field}`, condition.map(inTheirWords)];
      const [operator, value] = Object.entries(condition as object)[0] ?? [""];
      const isDate = typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value);
      const said: unknown = isDate ? { $date: new Date(value).toISOString() } : value;
      return [field, operator === "eq" ? said : { [theirOperators[operator] ?? operator]: said }];
    }),
  );
}

function nearInTheirWords(
  near: NonNullable<ReturnType<ReturnType<typeof createListReader>>["near"]>,
) {
  const { latitude, longitude, maxDistance, minDistance } = near;
  return {
    $near: {
      $geometry: { type: "Point", coordinates: [longitude, latitude] },
      ...(minDistance === undefined ? {} : { $minDistance: minDistance }),
      ...(maxDistance === undefined ? {} : { $maxDistance: maxDistance }),
    },
  };
}

/** Theirs names what is asked for, ours what is shown. */
function selected(fields: readonly string[] | undefined, asked: unknown): Record<string, number> {
  if (!fields) return {};
  const theirName = (name: string): string => (name === "id" ? "_id" : name);
  if (String(asked).startsWith("-")) {
    const left = fieldsOfAll.filter((name) => !fields.includes(name));
    return Object.fromEntries(left.map((name) => [theirName(name), 0]));
  }
  // The identifier is always shown in both.
  const named = fields.filter((name) => name !== "id");
  return Object.fromEntries(named.map((name) => [theirName(name), 1]));
}
