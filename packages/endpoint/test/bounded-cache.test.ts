import { expect, it } from "vitest";
import { boundedCache } from "../src/bounded-cache.ts";

it("boundedCache() computes the value of a text once", () => {
  let count = 0;
  const cached = boundedCache((text) => ({ text, count: (count += 1) }));
  expect(cached("a")).toBe(cached("a"));
  expect(cached("b")).toEqual({ text: "b", count: 2 });
});

it("boundedCache() holds at most 500 texts, and no long ones", () => {
  let count = 0;
  const cached = boundedCache(() => ({ count: (count += 1) }));
  for (let index = 0; index < 500; index += 1) cached(String(index));
  cached("0");
  expect(count).toBe(500);
  cached("500");
  cached("0");
  expect(count).toBe(502);
  cached("x".repeat(2049));
  cached("x".repeat(2049));
  expect(count).toBe(504);
});

it("boundedCache() throws for a value that is not a string", () => {
  expect(() => boundedCache(() => ({}))(undefined)).toThrow(TypeError);
});
