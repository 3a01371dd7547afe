import { type Handler, runHandler } from "@fetchwork/http";
import type { Fields, JsonSchema, Resource } from "@fetchwork/rest";
import { z } from "zod";

/** Creators of what samples refer to. */
interface Creators {
  /** Makes an admin, and returns its token. */
  readonly user: () => Promise<string>;
  readonly masterKey: string;
}

/** Makes the function that makes samples of a service's resources. */
export function createSampler(
  handler: Handler,
  { user, masterKey }: Creators,
): (resource: Resource, fields?: Fields) => Promise<Fields> {
  let made = 0;

  async function create(resource: Resource, admin: () => Promise<string>): Promise<string> {
    const { access, name, path } = resource;
    const token = access.create === "master" ? masterKey : await admin();
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = JSON.stringify(await sample(resource, {}, admin));
    const request = new Request(`http://localhost${path}`, { method: "POST", headers, body });
    const response = await runHandler(handler, request);
    if (response.status !== 201) {
      throw new Error(`a sample of ${name} was refused: ${await response.text()}`);
    }
    return ((await response.json()) as { readonly id: string }).id;
  }

  async function sample(
    resource: Resource,
    given: Fields,
    admin: () => Promise<string>,
  ): Promise<Fields> {
    const { name, relations } = resource;
    const input = inputOf(resource);
    made += 1;
    const fields: Record<string, unknown> = {};
    const properties = (input["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
    for (const field of (input["required"] ?? []) as readonly string[]) {
      if (Object.hasOwn(given, field)) continue;
      const reference = relations.references.find((one) => one.field === field);
      const id = reference && (await create(reference.to(), admin));
      const value =
        id === undefined ? valueOf(properties[field] ?? {}, `${name}.${field}`, made) : id;
      fields[field] = reference?.many === true ? [value] : value;
    }
    return { ...fields, ...given };
  }
  return async (resource, fields = {}) => {
    // One admin for all references: rules about the owner of one of them let it create the next.
    let admin: Promise<string> | undefined;
    return sample(resource, fields, () => (admin ??= user()));
  };
}

/** Returns the schema of a creation's body: for a user also with the email and the password. */
function inputOf(resource: Resource): JsonSchema {
  if (!("creation" in resource && resource.creation instanceof z.ZodType)) return resource.input;
  return z.toJSONSchema(resource.creation, { io: "input" });
}

/** Makes a value that a schema takes; `number` makes it another one each time. */
function valueOf(schema: JsonSchema, place: string, number: number): unknown {
  const [first] = (schema["anyOf"] ?? schema["oneOf"] ?? []) as readonly JsonSchema[];
  if (first !== undefined) return valueOf(first, place, number);
  if ("const" in schema) return schema["const"];
  const [word] = (schema["enum"] ?? []) as readonly unknown[];
  if (word !== undefined) return word;
  switch (schema["type"]) {
    case "boolean":
      return true;
    case "integer":
    case "number":
      return numberOf(schema, number);
    case "array": {
      const { items = {}, minItems = 0 } = schema as { items?: JsonSchema; minItems?: number };
      return Array.from({ length: minItems }, (_, index) => valueOf(items, place, number + index));
    }
    case "object": {
      const { properties = {}, required = [] } = schema as {
        properties?: Readonly<Record<string, JsonSchema>>;
        required?: readonly string[];
      };
      const pairs = required.map((name) => [name, valueOf(properties[name] ?? {}, place, number)]);
      return Object.fromEntries(pairs) as object;
    }
    case "string":
      return textOf(schema, place, number);
    default:
      throw new Error(`no sample can be made of ${place}: give it as a field`);
  }
}

function numberOf(schema: JsonSchema, number: number): number {
  const {
    minimum,
    exclusiveMinimum,
    maximum = Infinity,
    multipleOf = 1,
  } = schema as Readonly<Record<string, number | undefined>>;
  const lowest = minimum ?? (exclusiveMinimum === undefined ? 1 : exclusiveMinimum + multipleOf);
  const value = Math.ceil(lowest / multipleOf) * multipleOf + number * multipleOf;
  return value > maximum ? Math.max(lowest, Math.floor(maximum / multipleOf) * multipleOf) : value;
}

function textOf(schema: JsonSchema, place: string, number: number): string {
  const { minLength = 0, maxLength = Infinity } = schema as Readonly<Record<string, number>>;
  const { format = "", pattern } = schema as Readonly<Record<string, string>>;
  const formats: Readonly<Record<string, string>> = {
    email: `ada${number}@example.com`,
    uri: `https://example.com/${number}`,
    uuid: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
    date: `2026-01-${String((number % 28) + 1).padStart(2, "0")}`,
    "date-time": `2026-01-01T00:00:${String(number % 60).padStart(2, "0")}Z`,
  };
  const known = formats[format];
  if (known !== undefined) return known;
  const text = `Sample ${number}`.padEnd(minLength, ".").slice(0, maxLength);
  if (pattern === undefined || new RegExp(pattern, "u").test(text)) return text;
  throw new Error(`no sample can be made of ${place}, which has a pattern: give it as a field`);
}
