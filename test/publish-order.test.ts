import { expect, it } from "vitest";
import { neededBy } from "../scripts/package-closure.ts";
import { publishOrder } from "../scripts/publish/publish-order.ts";
import { readPackages } from "../scripts/workspace-packages.ts";

const packages = readPackages("packages").map(({ manifest }) => ({
  name: manifest.name,
  needs: neededBy(manifest),
}));

it("Every package is published once, after those that it needs", () => {
  const order = publishOrder(packages).map(({ name }) => name);
  expect(order.toSorted()).toEqual(packages.map(({ name }) => name).toSorted());
  const early = packages.flatMap(({ name, needs }) =>
    needs.filter((need) => order.indexOf(need) > order.indexOf(name)),
  );
  expect(early).toEqual([]);
  expect(order.at(-1)).toBe("create-fetchwork");
});

it("Packages that need each other are an error", () => {
  const circle = [
    { name: "a", needs: ["b"] },
    { name: "b", needs: ["a"] },
  ];
  expect(() => publishOrder(circle)).toThrow("a, b");
});
