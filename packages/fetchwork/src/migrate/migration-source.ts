import { oneLine } from "../command/terminal-text.ts";
import { documentCount } from "../db/document-count.ts";
import { typesOf } from "./find-faults.ts";
import { type Break } from "./migration-plan.ts";
import type { Model } from "./model.ts";

/** A change as it is written: its functions, and their names. */
interface Written {
  readonly collection: string;
  readonly functions: readonly string[];
  readonly change: string;
  readonly undo?: string | undefined;
}

/** Values for a field without one, by the type in JSON Schema. */
const emptyValues: Readonly<Record<string, string>> = {
  array: "[]",
  boolean: "false",
  integer: "0",
  number: "0",
  object: "{}",
  string: '""',
};

/** Conversions of a value, by the type in JSON Schema. */
const conversions: Readonly<Record<string, string>> = {
  array: "[value]",
  boolean: 'value === "true" || value === 1',
  integer: "Math.trunc(Number(value))",
  number: "Number(value)",
  string: "String(value)",
};

/** Names a migration after its first change: `rename-articles-headline`. */
export function migrationName([first]: readonly Break[]): string {
  const words = [first?.kind ?? "change", first?.collection ?? "", first?.field ?? ""].join("-");
  return words
    .replaceAll(/[^A-Za-z\d]+/g, "-")
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, "-")
    .toLowerCase()
    .slice(0, 60)
    .replaceAll(/^-|-$/g, "");
}

/** Writes the TypeScript of a migration, with a function for each change. */
export function migrationSource(
  { id, name }: { readonly id: number; readonly name: string },
  breaks: readonly Break[],
  models: readonly Model[],
): string {
  const changes = breaks.map((each, index) => {
    const properties =
      models.find(({ collection }) => collection.name === each.collection)?.properties ?? {};
    return writeChange(
      each,
      functionName(each, breaks.slice(0, index)),
      schemaOf(properties, each.field),
    );
  });
  const list = changes.map(({ collection, change, undo }) => {
    const undone = undo === undefined ? "" : `, undo: ${undo}`;
    return `    { collection: ${text(collection)}, change: ${change}${undone} },\n`;
  });
  return [
    'import type { DocumentMigration, MigratedFields } from "fetchwork";\n',
    ...changes.flatMap(({ functions }) => functions),
    `export const migration: DocumentMigration = {\n  id: ${id},\n  name: ${text(name)},\n  changes: [\n${list.join("")}  ],\n};\n`,
  ].join("\n");
}

function writeChange(each: Break, name: string, schema: unknown): Written {
  const { collection, documents, expected, field, from, ids, kind, to = [] } = each;
  const about =
    `// ${oneLine(collection)}.${oneLine(field)}: ${oneLine(expected)}. ` +
    `${documentCount(documents)}, such as ${oneLine(ids[0] ?? "none")}.\n`;
  const one = (body: string, called = name): string =>
    `function ${called}(document: MigratedFields): MigratedFields | undefined {\n${body}}\n`;
  const undoName = `undo${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  const isNested = /[.,]/.test(field);
  if (kind === "rename" && from !== undefined) {
    return {
      collection,
      functions: [about + one(moved(from, field)), one(moved(field, from), undoName)],
      change: name,
      undo: undoName,
    };
  }
  if (kind === "split" && from !== undefined) {
    return {
      collection,
      functions: [about + one(split(from, to)), one(rejoined(from, to), undoName)],
      change: name,
      undo: undoName,
    };
  }
  const value = kind === "missing" && !isNested ? defaultOf(schema) : undefined;
  if (value !== undefined) {
    const body =
      `  // The value for documents that have none: change it to what fits.\n` +
      `  return document${at(field)} === undefined ? { ...document, ${key(field)}: ${value} } : undefined;\n`;
    return { collection, functions: [about + one(body)], change: name };
  }
  const [type = ""] = typesOf(schema);
  const converted = kind === "type" && !isNested ? conversions[type] : undefined;
  if (converted !== undefined) {
    const isDone =
      type === "array"
        ? "Array.isArray(value)"
        : `typeof value === ${text(type === "integer" ? "number" : type)}`;
    const body =
      `  const value = document${at(field)};\n  if (value === undefined || ${isDone}) return undefined;\n` +
      `  // Check what becomes of values that cannot be converted.\n` +
      `  return { ...document, ${key(field)}: ${converted} };\n`;
    return { collection, functions: [about + one(body)], change: name };
  }
  const body =
    `  // Return the fields after the change, or undefined for a document that fits already.\n` +
    `  throw new Error(${text(`${name} is to be filled in`)}, { cause: Object.keys(document) });\n`;
  return { collection, functions: [about + one(body)], change: name };
}

function moved(from: string, to: string): string {
  return (
    `  const { ${key(from)}: value, ...rest } = document;\n` +
    `  return value === undefined ? undefined : { ...rest, ${key(to)}: value };\n`
  );
}

function split(from: string, to: readonly string[]): string {
  const parts = to.map((_field, index) => `part${index + 1}`);
  const values = to.map((field, index) => `${key(field)}: ${parts[index] ?? ""}`);
  const [first = "part1", ...others] = parts;
  const rest = others.at(-1) ?? "";
  const middle = others.slice(0, -1).map((part) => `${part} = "", `);
  return (
    `  const { ${key(from)}: whole, ...rest } = document;\n` +
    `  if (typeof whole !== "string") return undefined;\n` +
    `  // Check how the parts are told apart.\n` +
    `  const [${first} = "", ${middle.join("")}...words] = whole.split(" ");\n` +
    `  const ${rest} = words.join(" ");\n` +
    `  return { ...rest, ${values.join(", ")} };\n`
  );
}

function rejoined(from: string, to: readonly string[]): string {
  const parts = to.map((field, index) => `${key(field)}: part${index + 1}`);
  const names = to.map((_field, index) => `part${index + 1}`);
  return (
    `  const { ${parts.join(", ")}, ...rest } = document;\n` +
    `  if (part1 === undefined) return undefined;\n` +
    `  return { ...rest, ${key(from)}: [${names.join(", ")}].join(" ").trim() };\n`
  );
}

function defaultOf(schema: unknown): string | undefined {
  const {
    enum: values,
    minimum,
    minLength = 0,
    format,
    pattern,
  } = Object(schema) as Record<string, unknown>;
  if (Array.isArray(values)) return text(values[0]);
  const types = typesOf(schema);
  if (types.includes("null")) return "null";
  if (minLength !== 0 || format !== undefined || pattern !== undefined) return undefined;
  const [type = ""] = types;
  return typeof minimum === "number" && minimum > 0 ? String(minimum) : emptyValues[type];
}

function schemaOf(properties: Model["properties"], field: string): unknown {
  return Object.hasOwn(properties, field) ? properties[field] : undefined;
}

function nameOf({ kind, collection, field }: Break): string {
  const words = `${collection} ${field}`.split(/[^A-Za-z\d]+/);
  return [kind === "missing" ? "fill" : kind, ...words]
    .map((word, index) => (index === 0 ? word : word.slice(0, 1).toUpperCase() + word.slice(1)))
    .join("")
    .slice(0, 80);
}

/** A name that no function of the file has, of letters and digits only. */
function functionName(each: Break, before: readonly Break[]): string {
  const same = before.filter((other) => nameOf(other) === nameOf(each)).length;
  return `${nameOf(each)}${same === 0 ? "" : same + 1}`;
}

function isIdentifier(name: string): boolean {
  return /^[A-Za-z_]\w*$/.test(name);
}

/** The name in an object: a computed one sets `__proto__` as a field. */
function key(name: string): string {
  return isIdentifier(name) && name !== "__proto__" ? name : `[${text(name)}]`;
}

function at(name: string): string {
  return `[${text(name)}]`;
}

function text(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
