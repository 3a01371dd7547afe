import fc from "fast-check";
import { expect, it } from "vitest";
import { schedule } from "../src/files/schedule.ts";

const file = (path: string, ...dependsOn: string[]) => ({ path, dependsOn });

it("schedule puts what a file uses into an earlier level", () => {
  const files = [file("main", "a", "b"), file("a", "b"), file("b"), file("free")];
  expect(schedule(files)).toEqual([["b", "free"], ["a"], ["main"]]);
});

it("schedule puts a circle into one level, after what it uses and before what uses it", () => {
  const files = [file("top", "x"), file("x", "y"), file("y", "x", "base"), file("base")];
  expect(schedule(files)).toEqual([["base"], ["x", "y"], ["top"]]);
});

it("schedule ignores files that are not in the list, and a file that uses itself", () => {
  expect(schedule([file("a", "a", "elsewhere")])).toEqual([["a"]]);
  expect(schedule([])).toEqual([]);
});

it("schedule orders a chain of 10,000 files", () => {
  const files = Array.from({ length: 10_000 }, (_, at) => file(`f${at}`, `f${at + 1}`));
  const levels = schedule(files);
  expect(levels).toHaveLength(10_000);
  expect(levels[0]).toEqual(["f9999"]);
});

it("schedule has every file once, and nothing before what it uses unless they use each other", () => {
  const graph = fc.integer({ min: 1, max: 12 }).chain((size) =>
    fc.array(fc.array(fc.integer({ min: 0, max: size - 1 }), { maxLength: 4 }), {
      minLength: size,
      maxLength: size,
    }),
  );
  fc.assert(
    fc.property(graph, (edges) => {
      const files = edges.map((to, from) => file(`f${from}`, ...to.map((one) => `f${one}`)));
      const levels = schedule(files);
      expect(levels.flat().toSorted()).toEqual(files.map(({ path }) => path).toSorted());
      const level = new Map(
        levels.flatMap((paths, at) => paths.map((path) => [path, at] as const)),
      );
      const reaches = (from: string, to: string, seen = new Set<string>()): boolean => {
        if (from === to) return true;
        if (seen.has(from)) return false;
        seen.add(from);
        const next = files.find(({ path }) => path === from)?.dependsOn ?? [];
        return next.some((path) => reaches(path, to, seen));
      };
      for (const { path, dependsOn } of files) {
        for (const needed of dependsOn) {
          const [own = 0, its = 0] = [level.get(path), level.get(needed)];
          if (reaches(needed, path)) expect(its).toBe(own);
          else expect(its).toBeLessThan(own);
        }
      }
    }),
  );
});
