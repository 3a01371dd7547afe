import { oneLine } from "../command/terminal-text.ts";
import { documentCount } from "../db/document-count.ts";
import { typesOf } from "./find-faults.ts";
import type { Break, Rename } from "./migration-plan.ts";
import type { Model } from "./model.ts";

/** Values for a field without one, by the type in JSON Schema. */
const emptyValues: Readonly<Record<string, string>> = {
  array: "[]",
  boolean: "false",
  integer: "0",
  number: "0",
  object: "{}",
  string: '""',
};

/** Names a migration after its first change: `rename-articles-headline`. */
export function migrationName(breaks: readonly Break[]): string {
  const [name = "change"] = breaks.map((each) => functionName(each, new Set()));
  const words = name.replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, "-").toLowerCase();
  return words.slice(0, 60).replace(/-$/, "");
}

/** Writes the TypeScript of a migration, with a function for each change. */
export function migrationSource(
  { id, name }: { readonly id: number; readonly name: string },
  breaks: readonly (Break | Rename)[],
  models: readonly Model[],
): string {
  const used = new Set<string>();
  const functions: string[] = [];
  const list = breaks.map((each) => {
    const change = functionName(each, used);
    const model = models.find(({ collection }) => collection.name === each.collection);
    const [body, undoBody] = "from" in each ? renamed(each) : [filled(each, change, model)];
    const about = `${each.collection}.${each.field}: ${oneLine(each.expected)}`;
    const example = `${documentCount(each.documents)}, such as ${each.ids[0] ?? "none"}`;
    functions.push(`// ${oneLine(about, 600)}. ${oneLine(example)}.\n${functionOf(change, body)}`);
    const entry = `collection: ${JSON.stringify(each.collection)}, change: ${change}`;
    if (undoBody === undefined) return `    { ${entry} },\n`;
    const undo = `undo${change.slice(0, 1).toUpperCase()}${change.slice(1)}`;
    functions.push(functionOf(undo, undoBody));
    return `    { ${entry}, undo: ${undo} },\n`;
  });
  return [
    'import type { DocumentMigration, MigratedFields } from "fetchwork";\n',
    ...functions,
    `export const migration: DocumentMigration = {\n  id: ${id},\n  name: "${name}",\n  changes: [\n${list.join("")}  ],\n};\n`,
  ].join("\n");
}

/** A name that no other function of the file has, of letters and digits only. */
function functionName({ kind, collection, field }: Break, used: Set<string>): string {
  const words = `${collection} ${field}`.split(/[^A-Za-z\d]+/);
  const capital = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1));
  const name = [kind === "missing" ? "fill" : kind, ...capital].join("").slice(0, 80);
  const free = used.has(name) ? `${name}${used.size}` : name;
  used.add(free);
  return free;
}

function functionOf(name: string, body: string): string {
  return `function ${name}(document: MigratedFields): MigratedFields | undefined {\n${body}}\n`;
}

/** Returns the bodies of the function of a change of names and of its `undo`. */
function renamed({ field, from, kind, to }: Rename): readonly [change: string, undo: string] {
  if (kind === "rename") return [moved(from, field), moved(field, from)];
  const names = to.map((_field, index) => `part${index + 1}`);
  const parts = to.map((name, index) => `${key(name)}: part${index + 1}`).join(", ");
  const words = names.slice(0, -1).map((name) => `${name} = ""`);
  return [
    `  const { ${key(from)}: whole, ...rest } = document;\n` +
      `  if (typeof whole !== "string") return undefined;\n` +
      `  // Check how the parts are told apart.\n` +
      `  const [${words.join(", ")}, ...words] = whole.split(" ");\n` +
      `  const part${to.length} = words.join(" ");\n` +
      `  return { ...rest, ${parts} };\n`,
    `  const { ${parts}, ...rest } = document;\n` +
      `  if (part1 === undefined) return undefined;\n` +
      `  return { ...rest, ${key(from)}: [${names.join(", ")}].join(" ").trim() };\n`,
  ];
}

function moved(from: string, to: string): string {
  return (
    `  const { ${key(from)}: value, ...rest } = document;\n` +
    `  return value === undefined ? undefined : { ...rest, ${key(to)}: value };\n`
  );
}

/** Returns the body of a function that fills a missing field in, or that throws. */
function filled({ field, kind }: Break, name: string, model: Model | undefined): string {
  const { properties = {} } = model ?? {};
  const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
  const value = kind === "missing" ? defaultOf(schema) : undefined;
  const isMissing = `document[${JSON.stringify(field)}] === undefined`;
  return value === undefined
    ? `  // Return the fields after the change, or undefined for a document that fits already.\n` +
        `  throw new Error("${name} is to be filled in", { cause: Object.keys(document) });\n`
    : `  // The value for documents that have none: change it to what fits.\n` +
        `  return ${isMissing} ? { ...document, ${key(field)}: ${value} } : undefined;\n`;
}

function defaultOf(schema: unknown): string | undefined {
  if (schema === undefined) return undefined;
  const described = Object(schema) as Record<string, unknown>;
  const { enum: values, minimum, minLength = 0, format, pattern } = described;
  if (Array.isArray(values)) return JSON.stringify(values[0]);
  const types = typesOf(schema);
  if (types.includes("null")) return "null";
  if (minLength !== 0 || format !== undefined || pattern !== undefined) return undefined;
  return typeof minimum === "number" && minimum > 0 ? String(minimum) : emptyValues[types[0] ?? ""];
}

/** The name in an object: a computed one sets `__proto__` as a field. */
function key(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && name !== "__proto__" ? name : `[${JSON.stringify(name)}]`;
}
