import { empty, text, wrap } from "@fetchwork/http";
import { expect, it } from "vitest";
import { noCache } from "../../src/index.ts";

const conditions = {
  etag: '"a"',
  "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
  "if-match": '"a"',
  "if-none-match": '"a"',
  "if-range": '"a"',
  "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT",
};

it("noCache refuses an Expires that cannot be sent", () => {
  expect(() => noCache({ expires: "a\nb" })).toThrow(
    expect.objectContaining({ code: "ERR_MIDDLEWARE_OPTION" }),
  );
});

it("A9: removes the conditions of the request and keeps the rest", async () => {
  let seen: [string, string][] = [];
  const handler = wrap(({ headers }) => {
    seen = [...headers];
    return empty();
  }, noCache());
  await handler(new Request("http://localhost/", { headers: { ...conditions, accept: "a/b" } }));
  expect(seen).toEqual([["accept", "a/b"]]);
});

it.each(Object.entries(conditions))("A9: removes only %s from the request", async (name, value) => {
  let seen: [string, string][] = [];
  const handler = wrap(({ headers }) => {
    seen = [...headers];
    return empty();
  }, noCache());
  await handler(new Request("http://localhost/", { headers: { [name]: value, accept: "a/b" } }));
  expect(seen).toEqual([["accept", "a/b"]]);
});

it("noCache passes a request without conditions on unchanged", async () => {
  const incoming = new Request("http://localhost/");
  let seen: Request | undefined;
  await wrap((request) => {
    seen = request;
    return empty();
  }, noCache())(incoming);
  expect(seen).toBe(incoming);
});

it("A9: sets the four headers", async () => {
  const response = await wrap(() => text("x"), noCache())(new Request("http://localhost/"));
  expect(response.headers.get("expires")).toBe("Thu, 01 Jan 1970 00:00:00 UTC");
  expect(response.headers.get("cache-control")).toBe(
    "no-cache, no-store, no-transform, must-revalidate, private, max-age=0",
  );
  expect(response.headers.get("pragma")).toBe("no-cache");
  expect(response.headers.get("x-accel-expires")).toBe("0");
});

it("noCache lets the handler, and the option, override it", async () => {
  const handler = wrap(
    async () => text("x", { headers: { "cache-control": "max-age=1" } }),
    noCache({ expires: "0" }),
  );
  const { headers } = await handler(new Request("http://localhost/"));
  expect([headers.get("cache-control"), headers.get("expires")]).toEqual(["max-age=1", "0"]);
});
