import { expect, it } from "vitest";
import { exportedNames } from "../scripts/exported-names.ts";
import { readPackages } from "../scripts/workspace-packages.ts";

const names = exportedNames(readPackages("packages"));

it("no name is exported with two meanings, by one package or by two", () => {
  const declarations = Map.groupBy(names, ({ name }) => name);
  const ambiguous = [...declarations].flatMap(([name, exports]) => {
    const places = new Set(exports.map(({ declaration }) => declaration));
    return places.size > 1 ? [`${name}: ${[...places].join(", ")}`] : [];
  });
  expect(names.length).toBeGreaterThan(500);
  expect(ambiguous).toEqual([]);
});
