import fc from "fast-check";
import type { OpenApiDocument } from "../../src/openapi/openapi.ts";
import type { JsonSchema } from "../../src/schema.ts";
import { resolveReferences } from "../resolve-references.ts";

/** One operation of an OpenAPI document, as far as requests need it. */
export interface DescribedOperation {
  readonly path: string;
  readonly method: string;
  readonly parameters: readonly {
    readonly name: string;
    readonly in: string;
    readonly schema: JsonSchema;
  }[];
  readonly body: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/** A request before identifiers of documents are put into it: `@3` stands for one that is there. */
export interface RequestPlan {
  readonly method: string;
  readonly path: string;
  readonly caller: number;
  readonly params: Readonly<Record<string, string>>;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string | undefined;
  readonly body: unknown;
}

/** Lists the operations of a document. */
export function operationsOf(
  document: Pick<OpenApiDocument, "components" | "paths">,
): DescribedOperation[] {
  const { paths } = resolveReferences(document);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const { parameters = [], requestBody } = operation as {
        parameters?: DescribedOperation["parameters"];
        requestBody?: { content: DescribedOperation["body"] };
      };
      return { path, method: method.toUpperCase(), parameters, body: requestBody?.content ?? {} };
    }),
  );
}

const known = fc.integer({ min: 0, max: 19 }).map((index) => `@${index}`);
const strange = fc.constantFrom(
  "__proto__",
  "constructor",
  "\u0000",
  "\ud800",
  "' OR 1=1 --",
  "%00",
  "..",
  "1e999",
  "-1",
  "[]",
  "null",
  "a".repeat(300),
);
const text = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: "binary" }), strange);

/** Builds requests for an operation: some as described, some with a part that is not. */
export function requestsFor(operation: DescribedOperation): fc.Arbitrary<RequestPlan> {
  const { method, path, parameters, body } = operation;
  const of = (place: string) => parameters.filter((one) => one.in === place);
  const query = fc.tuple(
    ...of("query").map(({ name, schema }) =>
      seldom(
        fc
          .oneof({ weight: 6, arbitrary: textFor(schema) }, { weight: 1, arbitrary: text })
          .map((value) => [name, value] as const),
      ),
    ),
  );
  const extra = seldom(fc.tuple(text, text));
  const headers = fc
    .tuple(
      ...of("header").map(({ name }) => {
        const value = name.startsWith("If-")
          ? fc.constantFrom('"1"', '"2"', "*", 'W/"1"', "x", '"1", "2"')
          : fc.oneof(fc.uuid(), fc.constantFrom("k1", "k2", '"', "a b"));
        return seldom(value.map((one) => [name, one] as const));
      }),
    )
    .map((all) => Object.fromEntries(all.filter((one) => one !== null)));
  const types = Object.keys(body);
  const [first] = Object.values(body);
  const sent = first
    ? fc.oneof(
        { weight: 10, arbitrary: valueFor(first.schema) },
        { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
        // What the texts of a query may be, no schema says: most of those that are built are
        // refused.
        { weight: method === "QUERY" ? 5 : 0, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.dictionary(fc.oneof(text, names(first.schema)), fc.jsonValue()),
        },
      )
    : fc.constant(undefined);
  return fc.record({
    method: fc.constant(method),
    path: fc.constant(path),
    caller: fc.nat(7),
    params: fc.record(
      Object.fromEntries(
        of("path").map(({ name }) => [
          name,
          fc.oneof({ weight: 12, arbitrary: known }, { weight: 1, arbitrary: text }),
        ]),
      ),
    ),
    query: fc
      .tuple(query, extra)
      .map(([own, more]) => [...own, more].filter((one) => one !== null)),
    headers,
    type:
      types.length === 0
        ? fc.constant(undefined)
        : fc.oneof(
            { weight: 12, arbitrary: fc.constant(types[0]) },
            { weight: 2, arbitrary: fc.constantFrom(...types) },
            { weight: 1, arbitrary: fc.constantFrom("text/csv", "application/json; charset=x") },
          ),
    body: sent,
  });
}

/** Mostly nothing, so that requests of many parts are not all wrong in one of them. */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}

function names(schema: JsonSchema): fc.Arbitrary<string> {
  return fc.constantFrom("id", ...Object.keys((schema["properties"] as object | undefined) ?? {}));
}

function textFor(schema: JsonSchema): fc.Arbitrary<string> {
  return valueFor(schema).map((value) => String(value));
}

/** Builds values that a JSON Schema describes, as far as this API's schemas go. */
function valueFor(schema: JsonSchema): fc.Arbitrary<unknown> {
  const {
    const: fixed,
    enum: values,
    format,
    items,
    maximum,
    maxLength,
    minimum,
    minLength,
  } = schema;
  if (fixed !== undefined) return fc.constant(fixed);
  if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]));
  const either = (schema["anyOf"] ?? schema["oneOf"]) as JsonSchema[] | undefined;
  if (either) return fc.oneof(...either.map(valueFor));
  switch ([schema["type"]].flat()[0]) {
    case "string":
      if (format === "email") return fc.emailAddress();
      if (format === "date-time")
        return fc
          .date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
          .map((at) => at.toJSON());
      // What has no limit is an identifier, or may be one.
      return fc.oneof(
        {
          weight: 1,
          arbitrary: fc.string({
            minLength: Number(minLength ?? 0),
            maxLength: Math.min(Number(maxLength ?? 20), 60),
          }),
        },
        { weight: maxLength === undefined ? 6 : 0, arbitrary: known },
      );
    case "integer":
      return fc.integer({
        min: Number(minimum ?? -9),
        max: Math.min(Number(maximum ?? 99), Number(minimum ?? 0) + 5),
      });
    case "number":
      return fc.double({ min: Number(minimum ?? -99), max: Number(maximum ?? 99), noNaN: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(valueFor((items ?? {}) as JsonSchema), {
        minLength: Number(schema["minItems"] ?? 0),
        maxLength: 2,
      });
    case "object":
      return objectFor(schema);
    default:
      return fc.constant(null);
  }
}

function objectFor({
  additionalProperties,
  properties,
  required,
}: JsonSchema): fc.Arbitrary<unknown> {
  if (properties === undefined && typeof additionalProperties === "object") {
    return fc.dictionary(
      fc.string({ maxLength: 10 }),
      valueFor(additionalProperties as JsonSchema),
      {
        maxKeys: 3,
      },
    );
  }
  const all = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
  const own = all.filter(([name]) => name !== "access_token");
  return fc.record(Object.fromEntries(own.map(([name, one]) => [name, valueFor(one)])), {
    requiredKeys: (required ?? []) as string[],
  });
}
