import { expect, it } from "vitest";
import { boundedCache } from "../src/bounded-cache.ts";

it("computes what it knows once", () => {
  let count = 0;
  const cached = boundedCache((text) => ({ text, count: (count += 1) }));
  expect(cached("a")).toBe(cached("a"));
  expect(cached("b")).toEqual({ text: "b", count: 2 });
});

it("holds no more than 500 texts, and none that is long", () => {
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

it("refuses what is no text", () => {
  expect(() => boundedCache(() => ({}))(undefined)).toThrow(TypeError);
});
