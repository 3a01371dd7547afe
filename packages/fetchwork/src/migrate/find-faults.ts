import { isObject } from "@fetchwork/kit";
import { type Break, withDocument } from "./migration-plan.ts";
import type { Model } from "./model.ts";

const maxFaults = 200;

/** Counts documents that a model refuses. */
export class FaultFinder {
  readonly #model: Model;
  readonly #found = new Map<string, Break>();

  constructor(model: Model) {
    this.#model = model;
  }

  /** Checks a document with the schema. */
  async check(id: string, document: Readonly<Record<string, unknown>>): Promise<void> {
    const { properties, schema } = this.#model;
    const seen = new Set<string>();
    for (const { message, path } of await issuesOf(schema, document)) {
      const kind = kindOf(valueAt(document, path), schemaAt(properties, path));
      const field = path.map((part) => (typeof part === "number" ? "[]" : part)).join(".");
      if (seen.has(`${kind} ${field}`)) continue;
      seen.add(`${kind} ${field}`);
      const expected = kind === "missing" ? "required" : message || "another value";
      this.add(id, { kind, field, expected });
    }
  }

  /** Counts a document with a fault. */
  add(id: string, { kind, field, expected }: Pick<Break, "expected" | "field" | "kind">): void {
    const key = `${kind} ${field}`;
    const known = this.#found.get(key);
    // Names may come from documents, as those of a record do.
    if (known === undefined && this.#found.size >= maxFaults) return;
    const { name: collection } = this.#model.collection;
    const none = { kind, collection, field, expected, documents: 0, ids: [] };
    this.#found.set(key, withDocument(known ?? none, id));
  }

  /** Breaks that were found. */
  get breaks(): readonly Break[] {
    return [...this.#found.values()];
  }
}

/** Returns the issues of a schema with a document. */
export async function issuesOf(
  schema: Model["schema"],
  document: Readonly<Record<string, unknown>>,
): Promise<readonly { readonly message: string; readonly path: readonly (number | string)[] }[]> {
  const { issues } = (await schema?.["~standard"].validate(document)) ?? {};
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

function schemaAt(properties: Model["properties"], path: readonly (number | string)[]): unknown {
  const inside = path.flatMap((part) =>
    typeof part === "number" ? ["items"] : ["properties", part],
  );
  return valueAt({ properties }, inside);
}

/** The value at a path of keys. */
export function valueAt(document: unknown, path: readonly (number | string)[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? Reflect.get(value, key)
        : undefined,
    document,
  );
}
