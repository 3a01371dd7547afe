import { isObject } from "@fetchwork/kit";
import type { MigratedFields } from "@fetchwork/service";
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

  /** Checks a document with the schema; `moved` are fields that may be missing. */
  async check(id: string, document: MigratedFields, moved: readonly string[]): Promise<void> {
    const { properties, schema } = this.#model;
    const seen = new Set<string>();
    for (const { message, path } of await issuesOf(schema, document)) {
      const kind = kindOf(valueAt(document, path), schemaAt(properties, path));
      const field = path.map((part) => (typeof part === "number" ? "[]" : String(part))).join(".");
      const isKnown = seen.has(`${kind} ${field}`) || (kind === "missing" && moved.includes(field));
      seen.add(`${kind} ${field}`);
      const expected = kind === "missing" ? "required" : message || "another value";
      if (!isKnown) this.add(id, { kind, field, expected });
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
