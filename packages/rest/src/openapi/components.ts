import { isObject } from "@fetchwork/kit";
import { check } from "../errors.ts";
import { nameOfSchema } from "../named-schema.ts";
import type { JsonSchema } from "../schema.ts";

/** Where the references of a schema to its own parts lead in the document. */
type References = ReadonlyMap<string, string>;

/** Collects what an OpenAPI document describes once, and returns references to it. */
export class Components {
  readonly #schemas = new Map<string, JsonSchema>();
  readonly #responses = new Map<string, JsonSchema>();
  #unnamed = 0;

  /** Collected schemas and responses, for `components` of the document. */
  get collected(): { readonly schemas: JsonSchema; readonly responses: JsonSchema } {
    return {
      schemas: Object.fromEntries(this.#schemas),
      responses: Object.fromEntries(this.#responses),
    };
  }

  /**
   * Replaces each schema that has a name by a reference, wherever it is. So are those of `$defs`,
   * which would lead nowhere in the document.
   *
   * @throws RestError `ERR_REST_DEFINITION` for two different schemas of one name.
   */
  schema(schema: JsonSchema): JsonSchema {
    const { $defs, ...rest } = schema;
    const isRecursive = JSON.stringify(rest).includes('"$ref":"#"');
    const definitions = Object.entries(isObject($defs) ? $defs : {}).flatMap(
      ([key, one]): [string, JsonSchema][] => (isObject(one) ? [[key, one]] : []),
    );
    const name = nameOfSchema(schema) ?? (isRecursive ? this.#freeName("Recursive") : undefined);
    const references = new Map(name === undefined ? [] : [["#", refer(name)]]);
    for (const [key] of definitions) {
      references.set(
        `#/$defs/${key}`,
        refer(key.startsWith("__") ? this.#freeName("Schema") : key),
      );
    }
    for (const [key, definition] of definitions) {
      const target = references.get(`#/$defs/${key}`) ?? "";
      this.#keep(target.slice(folder.length), this.#inside(definition, references));
    }
    const described = this.#inside(rest, references);
    if (name === undefined) return described;
    this.#keep(name, described);
    return { $ref: refer(name) };
  }

  /** Refers to a response, which is described at its first use. */
  response(name: string, describe: () => JsonSchema): JsonSchema {
    if (!this.#responses.has(name)) this.#responses.set(name, describe());
    return { $ref: `#/components/responses/${name}` };
  }

  #keep(name: string, described: JsonSchema): void {
    const known = this.#schemas.get(name);
    const isSame = known === undefined || JSON.stringify(known) === JSON.stringify(described);
    check(isSame, `two different schemas have the name ${name}`);
    this.#schemas.set(name, described);
  }

  /** Makes a name for a schema without one. */
  #freeName(prefix: string): string {
    this.#unnamed += 1;
    return `${prefix}${this.#unnamed}`;
  }

  #inside(schema: JsonSchema, references: References): JsonSchema {
    const { $ref } = schema;
    if (typeof $ref === "string") return { ...schema, $ref: references.get($ref) ?? $ref };
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#value(value, references)]),
    );
  }

  #value(value: unknown, references: References): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#value(one, references));
    if (!isObject(value)) return value;
    return nameOfSchema(value) === undefined ? this.#inside(value, references) : this.schema(value);
  }
}

const folder = "#/components/schemas/";

function refer(name: string): string {
  return `${folder}${name}`;
}
