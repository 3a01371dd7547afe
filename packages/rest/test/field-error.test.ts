import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fieldErrorsOf } from "../src/field-error.ts";

function errorsOf(schema: z.ZodType, input: unknown): unknown {
  const result = schema["~standard"].validate(input);
  if (result instanceof Promise || !result.issues) throw new Error("the schema accepted the input");
  return fieldErrorsOf(result.issues, input).map(({ param, name, message, valid }) => {
    expect(valid).toBe(false);
    return [param, name, message];
  });
}

describe("fieldErrorsOf", () => {
  it.each([
    [z.string(), undefined, "required", "a is required"],
    [z.string().min(6), "x", "minlength", "a must have length greater than or equal to 6"],
    [z.string().max(2), "xyz", "maxlength", "a must have length lower than or equal to 2"],
    [z.array(z.number()).min(1), [], "minlength", "a must have length greater than or equal to 1"],
    [z.number().min(1), 0, "min", "a must be greater than or equal to 1"],
    [z.number().max(10), 11, "max", "a must be lower than or equal to 10"],
    [z.enum(["x", "y"]), "z", "enum", "a must be one of: x, y"],
    [z.email(), "z", "match", "a must be a valid email"],
    [z.string().regex(/^b$/), "z", "match", "a must be a valid value"],
    [z.string().regex(/^b$/, "a must be a b"), "z", "match", "a must be a b"],
    [z.number().gt(5), 5, "min", "a must be greater than 5"],
    [z.number().positive(), 0, "min", "a must be greater than 0"],
    [z.number().lt(5), 5, "max", "a must be lower than 5"],
    [z.number().multipleOf(5), 3, "invalid", "a must be a multiple of 5"],
    [z.string().startsWith("b-"), "z", "match", "a must start with b-"],
    [z.string().endsWith("-b"), "z", "match", "a must end with -b"],
    [z.string().includes("b"), "z", "match", "a must contain b"],
    [z.string().lowercase(), "Z", "match", "a must be in lower case"],
    [z.string().uppercase(), "z", "match", "a must be in upper case"],
    [z.iso.date(), "z", "match", "a must be a valid date, such as 2026-01-31"],
    [
      z.iso.datetime(),
      "2026-01-31T12:00:00+02:00",
      "match",
      "a must be a valid datetime, such as 2026-01-31T12:00:00Z",
    ],
    [
      z.iso.datetime({ precision: 3 }),
      "2026-01-31T12:00:00Z",
      "match",
      "a must be a valid datetime",
    ],
    [z.number(), "1", "type", "a must be of type number"],
    [z.string().refine(() => false, "no luck"), "z", "invalid", "no luck"],
  ])("describes the field as users of such an API know it (%#)", (schema, value, name, message) => {
    expect(errorsOf(z.object({ a: schema }), { a: value })).toEqual([["a", name, message]]);
  });

  it("names the fields that a schema does not take, a hundred of an object at most", () => {
    const schema = z.strictObject({ a: z.strictObject({ b: z.string() }) });
    expect(errorsOf(schema, { a: { b: "x", c: 1 }, role: "s3cret", d: 1 })).toEqual([
      ["a.c", "unknown", "a.c is not a field here"],
      ["role", "unknown", "role is not a field here"],
      ["d", "unknown", "d is not a field here"],
    ]);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
    expect(errorsOf(schema, { a: { b: "x" }, ...many })).toHaveLength(100);
  });

  it("says which kinds of an object there are", () => {
    const schema = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("card") }),
      z.object({ kind: z.literal("cash") }),
    ]);
    expect(errorsOf(z.object({ a: schema }), { a: { kind: "s3cret" } })).toEqual([
      ["a.kind", "enum", "a.kind must be one of: card, cash"],
    ]);
  });

  it("names each field once, nested ones with dots", () => {
    const schema = z.object({ a: z.object({ b: z.array(z.string().min(2).regex(/x/)) }) });
    expect(errorsOf(schema, { a: { b: ["ok x", "b"] } })).toEqual([
      ["a.b.1", "minlength", "a.b.1 must have length greater than or equal to 2"],
    ]);
  });

  it("never repeats the value", () => {
    const schema = z.object({ password: z.string().max(3), role: z.enum(["a"]), n: z.number() });
    const input = { password: "s3cret", role: "s3cret", n: "s3cret" };
    expect(JSON.stringify(errorsOf(schema, input))).not.toContain("s3cret");
  });
});
