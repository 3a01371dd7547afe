import { describe, expect, it } from "vitest";
import {
  encodeJSON,
  renderJSON,
  renderJSONFromBytes,
  renderJSONWithHTML,
} from "../../src/json/encode-json.ts";

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;
const unencodable: [string, unknown][] = [
  ["undefined", undefined],
  ["a function", () => 1],
  ["a cycle", cycle],
  ["a bigint", 1n],
];

async function read(response: Response): Promise<[number, string | null, string]> {
  return [response.status, response.headers.get("content-type"), await response.text()];
}

const type = "application/json; charset=utf-8";
const hostile = { a: "</script>&\u2028\u2029" };

describe("encoding JSON", () => {
  it.each(unencodable)(
    "responds with 500 without a reason for %s in renderJSON",
    async (_, value) => {
      expect(await read(renderJSON(value))).toEqual([
        500,
        "text/plain; charset=utf-8",
        "Internal Server Error\n",
      ]);
    },
  );

  it.each(unencodable)("throws for %s in encodeJSON and renderJSONWithHTML", (_, value) => {
    const expected = expect.objectContaining({ code: "ERR_MIDDLEWARE_JSON" });
    expect(() => encodeJSON(200, value)).toThrow(expected);
    expect(() => renderJSONWithHTML(value)).toThrow(expected);
  });

  it.each<[string, () => Response, number, string]>([
    // Research A18.
    ["renderJSON", () => renderJSON({ key: "val" }), 200, '{"key":"val"}\n'],
    [
      "renderJSON, escaped",
      () => renderJSON(hostile),
      200,
      '{"a":"\\u003c/script\\u003e\\u0026\\u2028\\u2029"}\n',
    ],
    [
      "renderJSONWithHTML",
      () => renderJSONWithHTML(hostile),
      200,
      '{"a":"</script>&\\u2028\\u2029"}\n',
    ],
    ["encodeJSON", () => encodeJSON(201, { a: "<" }), 201, '{"a":"\\u003c"}\n'],
    ["renderJSONFromBytes, text", () => renderJSONFromBytes('{"a":1}'), 200, '{"a":1}'],
    [
      "renderJSONFromBytes, bytes",
      () => renderJSONFromBytes(new TextEncoder().encode("[1]"), { status: 202 }),
      202,
      "[1]",
    ],
  ])("writes the exact bytes of %s", async (_, make, status, body) => {
    expect(await read(make())).toEqual([status, type, body]);
  });

  it("keeps the caller's content type", () => {
    const init = { headers: { "Content-Type": "application/health+json" } };
    for (const response of [renderJSON({}, init), renderJSONFromBytes("{}", init)]) {
      expect(response.headers.get("content-type")).toBe("application/health+json");
    }
  });

  it("sends the length of the bytes", () => {
    const response = renderJSONFromBytes(new TextEncoder().encode('"é"'));
    expect(response.headers.get("content-length")).toBe("4");
  });
});
