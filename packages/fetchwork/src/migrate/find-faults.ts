import { isObject } from "@fetchwork/kit";
import { Affected, type Break } from "./migration-plan.ts";
import type { Model } from "./model.ts";

const maxFaults = 200;

/** Counts documents whose fields a schema refuses. */
export class FaultFinder {
  readonly #model: Model;
  readonly #found = new Map<string, Omit<Break, "documents" | "ids"> & { readonly of: Affected }>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** Checks a document. */
  async check(id: string, document: Readonly<Record<string, unknown>>): Promise<void> {
    const { collection, schema } = this.#model;
    const seen = new Set<string>();
    for (const { message, path } of await issuesOf(schema, document)) {
      const value = valueAt(document, path);
      const name = path.map((part) => (typeof part === "number" ? "[]" : part)).join(".");
      const kind = kindOf(value, schemaAt(this.#model.properties, path));
      const key = `${kind} ${name}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const expected = kind === "missing" ? "required" : message || "another value";
      const known = this.#found.get(key);
      const entry = known ?? {
        kind,
        collection: collection.name,
        field: name,
        expected,
        of: new Affected(),
      };
      entry.of.add(id);
      // Names may come from documents, as those of a record do.
      if (known === undefined && this.#found.size < maxFaults) this.#found.set(key, entry);
    }
  }

  /** What was found. */
  get breaks(): readonly Break[] {
    return [...this.#found.values()].map(({ of, ...rest }) => ({ ...rest, ...of.result }));
  }
}

/** What a schema says of a document. */
export async function issuesOf(
  schema: Model["schema"],
  document: Readonly<Record<string, unknown>>,
): Promise<readonly { readonly message: string; readonly path: readonly (number | string)[] }[]> {
  const { issues = [] } = (await schema?.["~standard"].validate(document)) ?? {};
  return (issues ?? []).map(({ message, path = [] }) => ({
    message,
    path: path.map((part) => {
      const key: unknown = isObject(part) ? part["key"] : part;
      return typeof key === "number" ? key : String(key);
    }),
  }));
}

function kindOf(value: unknown, schema: unknown): "missing" | "narrowed" | "type" {
  if (value === undefined) return "missing";
  const types = typesOf(schema);
  if (types.length === 0) return "narrowed";
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const isOf = types.some((type) => type === own || (type === "integer" && own === "number"));
  return isOf ? "narrowed" : "type";
}

/** The types that a JSON Schema takes; none where it does not say. */
export function typesOf(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) return anyOf.flatMap(typesOf);
  return [type].flat().filter((each) => typeof each === "string");
}

function schemaAt(properties: Model["properties"], path: readonly (number | string)[]): unknown {
  let schema: unknown = { properties };
  for (const part of path) {
    if (!isObject(schema)) return undefined;
    const inside: unknown = typeof part === "number" ? schema["items"] : schema["properties"];
    schema = typeof part === "number" ? inside : ownValue(inside, part);
  }
  return schema;
}

/** The value at a path of keys. */
export function valueAt(document: unknown, path: readonly (number | string)[]): unknown {
  return path.reduce(ownValue, document);
}

function ownValue(value: unknown, key: number | string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}
