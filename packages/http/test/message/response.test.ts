import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { empty, json, text } from "../../src/index.ts";

describe("json()", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;

  it.each([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a cycle", cycle],
    ["a bigint", 1n],
  ])("rejects %s", (_what, value) => {
    expect(() => json(value)).toThrow(expect.objectContaining({ code: "ERR_HTTP_JSON" }));
  });

  it.each([101, 204, 304, 199, 600, 200.5, Number.NaN])("rejects the status %s", (status) => {
    expect(() => json(1, { status })).toThrow(expect.objectContaining({ code: "ERR_HTTP_STATUS" }));
  });

  it("can be read back", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (source) => {
        const value: unknown = JSON.parse(source);
        expect(await json(value).json()).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 50 },
    );
  });

  it("has its own status, text and headers", async () => {
    const response = json({ a: 1 }, { status: 201, statusText: "Made", headers: { "x-a": "1" } });
    expect(response).toBeInstanceOf(Response);
    expect([response.status, response.statusText, response.ok]).toEqual([201, "Made", true]);
    expect([...response.headers]).toEqual([
      ["content-type", "application/json"],
      ["x-a", "1"],
    ]);
    expect(response.bodyUsed).toBe(false);
    expect(await response.clone().text()).toBe('{"a":1}');
    expect(await response.text()).toBe('{"a":1}');
    expect(response.bodyUsed).toBe(true);
    await expect(response.text()).rejects.toThrow(TypeError);
  });

  it("keeps the content type of the init, and headers that are set later", async () => {
    const response = json(1, { headers: { "Content-Type": "application/problem+json" } });
    response.headers.set("x-late", "1");
    void response.body;
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("x-late")).toBe("1");
  });
});

describe("text and empty", () => {
  it("text() sends UTF-8", async () => {
    const response = text("grüße");
    expect(response.headers.get("content-type")).toBe("text/plain;charset=UTF-8");
    expect((await response.bytes()).byteLength).toBe(7);
  });

  it("empty() sends 204 without a body, or another status", async () => {
    expect([empty().status, empty().body]).toEqual([204, null]);
    const response = empty(404, { headers: { "x-a": "1" } });
    expect([response.status, response.body, response.headers.get("x-a")]).toEqual([404, null, "1"]);
    expect(await response.text()).toBe("");
  });
});
