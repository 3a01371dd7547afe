import { isObject } from "@fetchwork/kit";
import type { MigratedFields } from "@fetchwork/service";
import type { Break } from "./migration-plan.ts";
import type { Model } from "./model.ts";

/** Demand of a model that a document does not meet. */
export type Fault = Pick<Break, "expected" | "field" | "kind">;

/** Checks a document with a schema, with one fault of a kind for each field. */
export async function faultsOf(
  { properties, schema }: Model,
  document: MigratedFields,
): Promise<readonly Fault[]> {
  const found = new Map<string, Fault>();
  for (const { message, path } of await issuesOf(schema, document)) {
    const kind = kindOf(valueAt(document, path), schemaAt(properties, path));
    const field = path.map((part) => (typeof part === "number" ? "[]" : String(part))).join(".");
    const expected = kind === "missing" ? "required" : message || "another value";
    found.set(`${kind} ${field}`, { kind, field, expected });
  }
  return [...found.values()];
}

/** Returns the issues of a schema with a document. */
export async function issuesOf(
  schema: Model["schema"],
  document: MigratedFields,
): Promise<readonly { readonly message: string; readonly path: readonly PropertyKey[] }[]> {
  const { issues = [] } = (await schema?.["~standard"].validate(document)) ?? {};
  return issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((part) => (typeof part === "object" ? part.key : part)),
  }));
}

function kindOf(value: unknown, schema: unknown): "missing" | "narrowed" | "type" {
  if (value === undefined) return "missing";
  const types = typesOf(schema);
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const isOf = types.some((type) => type === own || (type === "integer" && own === "number"));
  return isOf || types.length === 0 ? "narrowed" : "type";
}

/** The types that a JSON Schema takes; none where it does not say. */
export function typesOf(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) return anyOf.flatMap(typesOf);
  return [type].flat().filter((each) => typeof each === "string");
}

function schemaAt(properties: Model["properties"], path: readonly PropertyKey[]): unknown {
  const inside = path.flatMap((part) =>
    typeof part === "number" ? ["items"] : ["properties", part],
  );
  return valueAt({ properties }, inside);
}

/** The value at a path of keys. */
export function valueAt(document: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    document,
  );
}
