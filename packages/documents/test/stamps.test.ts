import { afterEach, expect, it, vi } from "vitest";
import { createStamps } from "../src/document/stamps.ts";

afterEach(() => vi.useRealTimers());

it("an id begins with the time at which its document begins, though the clock goes on in between", () => {
  vi.useFakeTimers({ now: Date.parse("2030-01-01T00:00:00.000Z") });
  const stamps = createStamps();
  const createdAt = stamps.beginning("notes", []);
  vi.setSystemTime(Date.parse("2030-01-01T00:00:00.007Z"));
  const id = stamps.id();
  expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(Date.parse(createdAt));
});

it("a document that is added again in the same millisecond begins later", () => {
  vi.useFakeTimers({ now: Date.parse("2030-01-01T00:00:00.000Z") });
  const stamps = createStamps();
  const times = [1, 2, 3].map(() => stamps.beginning("notes", ["a"]));
  expect(times.map((time) => time.slice(-4))).toEqual(["000Z", "001Z", "002Z"]);
  expect(stamps.beginning("others", ["a"])).toBe("2030-01-01T00:00:00.000Z");
  expect(stamps.beginning("notes", [stamps.id()])).toBe("2030-01-01T00:00:00.001Z");
});

it("a document that began ahead of the clock is not caught up with by another of its id", () => {
  vi.useFakeTimers({ now: Date.parse("2030-01-01T00:00:00.000Z") });
  const stamps = createStamps();
  const [, ahead] = [stamps.beginning("notes", ["a"]), stamps.beginning("notes", ["a"])];
  vi.setSystemTime(Date.parse("2030-01-01T00:00:00.001Z"));
  expect(stamps.beginning("notes", ["a"]) > ahead).toBe(true);
});
