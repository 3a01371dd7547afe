import { createHash } from "node:crypto";
import { createContext, empty, text, wrap } from "@fetchwork/http";
import { describe, expect, it, vi } from "vitest";
import { cacheControl, cacheControlDynamic } from "../../src/index.ts";
import { shortHash } from "../../src/runtime/short-hash.ts";

const sha1 = (value: string): string => createHash("sha1").update(value).digest("hex");
const url = "http://example.com/foo";
const etag = '"b433be1ea19edaee9dc92ca4b895b6bdf3c058cb"';

describe("cacheControl refuses", () => {
  it.each([-1, Number.NaN, Infinity, "1"])("a maxAge of %s", (maxAge) => {
    // @ts-expect-error: a text is not a number
    expect(() => cacheControl(maxAge, "v1")).toThrow(
      expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
    );
  });

  it("a version that is not a text, and one that is not a function", () => {
    // @ts-expect-error: not a text
    expect(() => cacheControl(1, 7)).toThrow(/version must be .*, got 7/);
    // @ts-expect-error: not a function
    expect(() => cacheControlDynamic(1, "v1")).toThrow(/version must be .*, got "v1"/);
  });
});

describe("A9: tags and max-age", () => {
  it.each([
    [url, "v1", 3600, "b433be1ea19edaee9dc92ca4b895b6bdf3c058cb"],
    ["http://example.com/foo2", "v1", 36_000, "6d8466aef3246c1057452561acddf7ad9d0d99e0"],
    [url, "v2", 3600, "481700c52aab0dfbca99f3ffc2a4fbb27884c114"],
    ["https://example.com/foo", "v2", 3600.9, "bebd4f1b87f474792c4e75e5affe31fbf67f5778"],
  ])("%s of %s", async (address, version, maxAge, hash) => {
    const handlers = [
      wrap(() => text("x"), cacheControl(maxAge, version)),
      wrap(
        async () => text("x"),
        cacheControlDynamic(maxAge, () => version),
      ),
    ];
    for (const handler of handlers) {
      const { headers } = await handler(new Request(address));
      expect(headers.get("etag")).toBe(`"${hash}"`);
      expect(headers.get("cache-control")).toBe(`max-age=${Math.floor(maxAge)}, no-cache`);
    }
  });
});

describe("A9: revalidation", () => {
  const ask = async (
    method: string,
    fields: [string, string][],
  ): Promise<{ response: Response; called: boolean }> => {
    const inner = vi.fn(() => text("something"));
    const handler = wrap(inner, cacheControl(3600, "v1"));
    const response = await handler(new Request(url, { method, headers: fields }));
    return { response, called: inner.mock.calls.length > 0 };
  };

  it.each(
    ["GET", "HEAD"].flatMap((method) =>
      (
        [
          [[["if-none-match", etag]]],
          [[["if-none-match", `"a", ${etag}, "b"`]]],
          [[["if-none-match", `W/${etag}`]]],
          [
            [
              ["if-none-match", '"a"'],
              ["if-none-match", etag],
            ],
          ],
          [
            [
              ["if-none-match", '"a"'],
              ["if-none-match", '"b"'],
              ["if-none-match", etag],
            ],
          ],
          [[["if-none-match", `   ${etag}  , "a"`]]],
        ] as [[string, string][]][]
      ).map(([fields]) => ({ method, fields })),
    ),
  )("$method with $fields gets 304 and no handler", async ({ method, fields }) => {
    const { response, called } = await ask(method, fields);
    expect([response.status, await response.text(), called]).toEqual([304, "", false]);
    expect(response.headers.get("etag")).toBe(etag);
    expect(response.headers.get("cache-control")).toBe("max-age=3600, no-cache");
  });

  it.each([
    ...["PUT", "POST", "DELETE", "PATCH"].map((method) => ({
      method,
      fields: [["if-none-match", etag]],
    })),
    ...(
      [
        [["if-none-match", '"wrong"']],
        [],
        [["if-none-match", "*"]],
        [["if-none-match", etag.slice(0, -5)]],
        [["if-none-match", `${etag.slice(0, -5)}"`]],
        [["if-none-match", `"x${etag.slice(1)}`]],
        [["if-none-match", etag.slice(1, -1)]],
        [
          ["if-none-match", etag],
          ["if-match", etag],
        ],
        [
          ["if-none-match", etag],
          ["if-match", ""],
        ],
        [
          ["if-none-match", etag],
          ["if-unmodified-since", "Thu, 01 Jan 1970 00:00:00 GMT"],
        ],
      ] as [string, string][][]
    ).flatMap((fields) => ["GET", "HEAD"].map((method) => ({ method, fields }))),
  ])("$method with $fields is the handler's", async ({ method, fields }) => {
    const { response, called } = await ask(method, fields as [string, string][]);
    expect([response.status, called]).toEqual([200, true]);
    expect(response.headers.get("etag")).toBe(etag);
  });
});

it("cacheControl keeps the handler's own headers", async () => {
  const handler = wrap(
    () => text("x", { headers: { etag: '"mine"', "cache-control": "private" } }),
    cacheControl(1, "v1"),
  );
  const { headers } = await handler(new Request(url));
  expect([headers.get("etag"), headers.get("cache-control")]).toEqual(['"mine"', "private"]);
});

it("cacheControl adds no tag to an error (Go does, and a stored error is then confirmed forever)", async () => {
  for (const status of [400, 404, 500]) {
    const { headers } = await wrap(() => empty(status), cacheControl(1, "v1"))(new Request(url));
    expect([...headers]).toEqual([]);
  }
});

it("cacheControl passes request and context to the version function, and fails the request when it throws", async () => {
  const request = new Request(url);
  const context = createContext(request);
  const version = vi.fn(() => {
    throw new Error("no version");
  });
  expect(() => wrap(() => text("x"), cacheControlDynamic(1, version))(request, context)).toThrow(
    "no version",
  );
  expect(version).toHaveBeenCalledWith(request, context);
});

it("cacheControl makes right tags for more URLs than it remembers", async () => {
  const handler = wrap(() => empty(), cacheControl(1, "v1"));
  for (let round = 0; round < 2; round += 1) {
    for (let index = 0; index < 2500; index += 1) {
      const address = `http://example.com/${index}${"x".repeat(index % 700)}`;
      const response = await handler(new Request(address));
      if (index % 100 === 0) {
        expect(response.headers.get("etag")).toBe(`"${sha1(`v1:${address}`)}"`);
      }
    }
  }
});

it("cacheControl names different texts differently where the runtime has no node:crypto", () => {
  vi.stubGlobal("process", {});
  const names = Array.from({ length: 1000 }, (_, index) => shortHash(`v1:http://h/${index}`));
  vi.unstubAllGlobals();
  expect(new Set(names).size).toBe(1000);
  expect(names.every((name) => /^[\da-f]{16}$/.test(name))).toBe(true);
});
