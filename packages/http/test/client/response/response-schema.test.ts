import { ResponseSchemaError, RestResponse } from "@fetchwork/http";
import type { StandardSchema } from "@fetchwork/kit";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

function responseOf(body: string): RestResponse {
  return new RestResponse({ status: 200, headers: [], body: new TextEncoder().encode(body) });
}

/** A schema that finds what it is told. */
function refusing(...issues: { message: string; path?: (PropertyKey | { key: PropertyKey })[] }[]) {
  const validate = (): { issues: typeof issues } => ({ issues });
  const schema: StandardSchema<unknown, never> = {
    "~standard": { version: 1, vendor: "test", validate },
  };
  return schema;
}

async function errorOf(
  body: string,
  schema: StandardSchema<unknown>,
): Promise<ResponseSchemaError> {
  const error: unknown = await responseOf(body)
    .json(schema)
    .catch((thrown: unknown) => thrown);
  if (error instanceof ResponseSchemaError) return error;
  return expect.fail("no ResponseSchemaError");
}

describe("json(schema)", () => {
  it("rejects a body that is not JSON without quoting it", async () => {
    const error = await errorOf("hunter2", z.string());
    expect(error).toMatchObject({
      code: "ERR_HTTP_SCHEMA",
      message: "the response is invalid: the body is not JSON",
      issues: [{ message: "the body is not JSON", path: [] }],
    });
    expect(error.cause).toBeUndefined();
  });

  it("rejects what the schema does not accept, with path and message", async () => {
    const schema = z.object({ users: z.array(z.object({ name: z.string() })) });
    const error = await errorOf('{"users":[{"name":"a"},{"name":5}]}', schema);
    expect(error.issues).toEqual([
      { message: "Invalid input: expected string, received number", path: ["users", 1, "name"] },
    ]);
    expect(error.message).toBe(
      "the response is invalid: users.1.name: Invalid input: expected string, received number",
    );
  });

  it("has no value of the response in it, where a library quotes one", async () => {
    const body = JSON.stringify({
      token: 'hun"ter2',
      deep: { pin: 123_456, key: "s3cr3t" },
      x: "a",
    });
    const error = await errorOf(
      body,
      refusing(
        { message: 'expected number but received "hun\\"ter2"', path: [{ key: "token" }] },
        { message: 'must be a list (was {"pin":123456,"key":"s3cr3t"})', path: ["deep"] },
        { message: "bad value s3cr3t" },
        { message: 'expected a date but received "a"', path: ["x"] },
        { message: `long ${"s3cr3t".repeat(1000)}` },
      ),
    );
    expect(error.issues.map(({ message }) => message)).toEqual([
      "expected number but received …",
      'must be a list (was {"pin":…,"key":…})',
      "bad value …",
      "expected a date but received …",
      "invalid",
    ]);
    expect(JSON.stringify(error) + String(error.stack)).not.toMatch(/ter2|123456|s3cr3t/);
  });

  it("has the first ten issues, as printable text, and no member of a prototype", async () => {
    const issues = Array.from({ length: 12 }, () => ({
      message: "a\u001b[31m\nb",
      path: ["constructor", "name"],
    }));
    const error = await errorOf("{}", refusing(...issues));
    expect(error.issues).toHaveLength(10);
    expect(error.issues[0]?.message).toBe("a [31m b");
    expect(error.message).toMatch(/; and 2 more$/);
  });

  it("resolves to what the schema makes of the body", async () => {
    const promise = responseOf('{"at":"2026-01-02T00:00:00Z"}').json(
      z.object({ at: z.string().transform((text) => new Date(text)) }),
    );
    expectTypeOf(promise).resolves.toEqualTypeOf<{ at: Date }>();
    expect((await promise).at.getUTCFullYear()).toBe(2026);
    expectTypeOf(responseOf("1").json<number>()).toEqualTypeOf<number>();
  });
});
