import type { StandardSchema } from "@fetchwork/kit";
import { text } from "@fetchwork/http";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { decodeJSON } from "../../src/json/decode-json.ts";

const post = (body: BodyInit): Request => {
  const init = { method: "POST", body, duplex: "half" };
  return new Request("http://h/", init);
};
const broken = (): ReadableStream =>
  new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });

const titleSchema: StandardSchema<{ title: string }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      typeof value === "object" && value !== null && "title" in value
        ? { value: { title: String(value.title) } }
        : { issues: [{ message: "required", path: ["title"] }] },
  },
};

describe("decodeJSON", () => {
  it.each<[string, BodyInit, number, string]>([
    ["no JSON", "{", 400, "the body is not JSON"],
    ["nothing", "", 400, "the body is empty"],
    // Research A18 lets data after the first value pass; we do not, because others read it.
    ["data after the value", '{"a":1}{"b":2}', 400, "the body is not JSON"],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 400, "the body is not UTF-8"],
    ["a broken connection", broken(), 400, "the body cannot be read"],
    ["more than the limit", `"${"x".repeat(99)}"`, 413, "the body is larger than 100 bytes"],
    ["a prototype key", '{"a":[{"__proto__":{"b":1}}]}', 400, "the body has the key __proto__"],
    ["an escaped one", String.raw`{"\u005f_proto__":1}`, 400, "the body has the key __proto__"],
    [
      "a constructor's prototype",
      '{"constructor":{"prototype":{}}}',
      400,
      "the body has the key constructor.prototype",
    ],
  ])("refuses %s", async (_, body, status, message) => {
    await expect(decodeJSON(post(body), { limit: 100 })).rejects.toThrow(
      expect.objectContaining({
        name: "RequestError",
        status,
        message: `decode json: ${message}`,
        code: status === 413 ? "ERR_MIDDLEWARE_BODY_TOO_LARGE" : "ERR_MIDDLEWARE_BODY_INVALID",
      }),
    );
  });

  it("keeps the contents of the body out of its message", async () => {
    const error = await decodeJSON(post('{"password": hunter2}')).catch((error: unknown) => error);
    expect(JSON.stringify([error, String(error), (error as Error).cause])).not.toContain("hunter");
  });

  it.each([-1, 0.5, Number.NaN])("refuses a limit of %s", async (limit) => {
    await expect(decodeJSON(post("1"), { limit })).rejects.toThrow("limit");
  });

  it("refuses a used body", async () => {
    const request = post("1");
    await request.text();
    await expect(decodeJSON(request)).rejects.toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_BODY_USED" }),
    );
  });

  it.each([
    '{"a":1,"unknown":2}',
    "[1]",
    ' "x" ',
    "null",
    '{"constructor":"x"}',
    '{"constructor":{"a":1}}',
    '{"constructor":null,"prototype":{}}',
    "\ufeff{}",
  ])("reads %s", async (body) => {
    expect(await decodeJSON(post(body))).toEqual(JSON.parse(body.replace("\ufeff", "")));
  });

  it("reports why a body cannot be read, and does not quote invalid JSON", async () => {
    const cause = expect.objectContaining({ message: "reset" });
    await expect(decodeJSON(post(broken()))).rejects.toThrow(expect.objectContaining({ cause }));
    const failure: unknown = await decodeJSON(post("secret")).catch((error: unknown) => error);
    expect(failure).not.toHaveProperty("cause");
    expect(String(failure)).not.toContain("secret");
  });

  it("reads a response too, and the whole default limit", async () => {
    const long = "x".repeat(1_048_574);
    expect(await decodeJSON(text(JSON.stringify(long)))).toBe(long);
    await expect(decodeJSON(text(JSON.stringify(`${long}x`)))).rejects.toThrow("1048576");
  });

  it("returns what a schema makes of the value, with its type", async () => {
    const { title } = await decodeJSON(post('{"title":1}'), { schema: titleSchema });
    expect(title.toUpperCase()).toBe("1");
  });

  it("reports the issues of a schema", async () => {
    await expect(decodeJSON(post("{}"), { schema: titleSchema })).rejects.toThrow(
      expect.objectContaining({
        name: "InvalidBodyError",
        status: 422,
        code: "ERR_MIDDLEWARE_BODY_INVALID",
        issues: [{ message: "required", path: ["title"] }],
        message: "decode json: the body has one issue",
      }),
    );
  });

  it("reads any JSON back, and never changes a prototype", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (json) => {
        const value = await decodeJSON(post(json)).catch((error: unknown) => error);
        const isRefused = value instanceof Error;
        expect(
          isRefused ? json.includes("__proto__") || json.includes("constructor") : value,
        ).toEqual(isRefused ? true : JSON.parse(json));
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
    );
  });

  it("survives a megabyte of brackets", async () => {
    await expect(decodeJSON(post("[".repeat(1_048_576)))).rejects.toThrow("not JSON");
    const deep = `${"[".repeat(100_000)}"\\u0061"${"]".repeat(100_000)}`;
    expect(await decodeJSON(post(deep))).toBeInstanceOf(Array);
  });
});
