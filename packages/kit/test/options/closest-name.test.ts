import { expect, it } from "vitest";
import { closestName } from "../../src/options/closest-name.ts";

const names = ["resume", "edit", "verify", "plan", "run"];

it.each([
  ["resum", "resume"],
  ["RESUME", "resume"],
  ["edti", "edit"],
  ["verfy", "verify"],
  ["pln", "plan"],
])("closestName() takes %s for %s", (given, meant) => {
  expect(closestName(given, names)).toBe(meant);
});

it.each(["", "x", "write", "delete", "resumption", "r".repeat(100_000)])(
  "closestName() takes %s for none of them",
  (given) => {
    expect(closestName(given, names)).toBeUndefined();
  },
);
