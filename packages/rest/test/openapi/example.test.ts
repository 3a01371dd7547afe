import { expect, it } from "vitest";
import { z } from "zod";
import { exampleOf } from "../../src/openapi/example.ts";
import { jsonSchemaOf, type Schema } from "../../src/schema.ts";

it.each<[string, Schema]>([
  ["an email", z.email()],
  ["an UUID", z.uuid()],
  ["a time", z.iso.datetime()],
  ["a text of a least length", z.string().min(30)],
  ["a text of a most length", z.string().max(2)],
  ["a pattern of digits", z.string().regex(/^\d{5}$/)],
  ["a whole number above a bound", z.int().gt(41)],
  ["a number below a bound", z.number().max(-3)],
  ["a multiple", z.number().min(10).multipleOf(4)],
  ["an enum", z.enum(["a", "b"])],
  ["a list of a least size", z.array(z.string().min(2)).min(3)],
  ["a record", z.record(z.string(), z.number())],
  ["an object in an object", z.object({ a: z.object({ b: z.null() }), c: z.boolean().optional() })],
  ["one of several", z.union([z.object({ a: z.literal(1) }), z.string()])],
])("an example of %s is one, and the same each time", (_what, schema) => {
  const example = exampleOf(jsonSchemaOf(schema, "input"));
  const { issues } = schema["~standard"].validate(example) as { issues?: unknown };
  expect(issues).toBeUndefined();
  expect(exampleOf(jsonSchemaOf(schema, "input"))).toEqual(example);
});

it.each<[string, Schema, unknown]>([
  ["its own", z.string().meta({ examples: ["XY-1"] }), "XY-1"],
  ["its default", z.number().default(7), 7],
])("an example is %s where a schema has one", (_what, schema, example) => {
  expect(exampleOf(jsonSchemaOf(schema, "input"))).toBe(example);
});

it("there is no example of a pattern that is not common, nor of what needs one", () => {
  const schema = z.object({ a: z.string().regex(/^x{3}-y{7}$/) });
  expect(exampleOf(jsonSchemaOf(schema, "input"))).toBeUndefined();
});
