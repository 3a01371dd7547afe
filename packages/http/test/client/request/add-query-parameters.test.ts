import fc from "fast-check";
import { addQueryParameters } from "@fetchwork/http";
import { expect, it } from "vitest";

it.each([
  ["http://api.test.com", { test: "1", test2: "2" }, "http://api.test.com?test=1&test2=2"],
  ["http://h/x", { b: 1, a: 2 }, "http://h/x?a=2&b=1"],
  ["http://h/x?y=1", { a: 1 }, "http://h/x?y=1&a=1"],
  ["http://h/x?", { a: 1 }, "http://h/x?a=1"],
  ["http://h/x?y=1&", { a: 1 }, "http://h/x?y=1&a=1"],
  ["http://h/x#f?", { a: 1 }, "http://h/x?a=1#f?"],
  ["http://h/x", { a: "p q&r=s" }, "http://h/x?a=p+q%26r%3Ds"],
  ["http://h/x", { "a b": "ü" }, "http://h/x?a+b=%C3%BC"],
  ["http://h/x", { a: "~-_." }, "http://h/x?a=~-_."],
  ["http://h/x", { a: "!'()*" }, "http://h/x?a=%21%27%28%29%2A"],
  ["http://h/x", { a: "+" }, "http://h/x?a=%2B"],
  ["http://h/x", { a: "" }, "http://h/x?a="],
  ["http://h/x", { a: ["1", "2"] }, "http://h/x?a=1&a=2"],
  ["http://h/x", { a: [] }, "http://h/x"],
  ["http://h/x", { a: undefined, b: null }, "http://h/x"],
  ["http://h/x", { a: false, b: 0, c: 12n }, "http://h/x?a=false&b=0&c=12"],
  ["http://h/x", { a: "\ud800" }, "http://h/x?a=%EF%BF%BD"],
  [
    "http://h/x",
    JSON.parse('{"__proto__":"1"}') as Record<string, string>,
    "http://h/x?__proto__=1",
  ],
  ["http://h/x", {}, "http://h/x"],
] as const)("addQueryParameters adds to %s the parameters %o", (url, parameters, expected) => {
  expect(addQueryParameters(url, parameters)).toBe(expected);
});

it("addQueryParameters writes what every parser of forms reads back, after the query that was there", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ unit: "binary" }), fc.string({ unit: "binary" })),
      (parameters) => {
        const url = new URL(addQueryParameters("http://h/x?first=1#end", parameters));
        const sorted = Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1));
        expect(Array.from(url.searchParams)).toEqual([["first", "1"], ...sorted]);
        expect(url.hash).toBe("#end");
        expect(url.host + url.pathname).toBe("h/x");
      },
    ),
  );
});
