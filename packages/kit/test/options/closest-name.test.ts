import { expect, it } from "vitest";
import { closestName } from "../../src/options/closest-name.ts";

const names = ["resume", "edit", "verify", "plan", "run"];

it.each([
  ["resum", "resume"],
  ["RESUME", "resume"],
  ["edti", "edit"],
  ["verfy", "verify"],
  ["pln", "plan"],
])("closestName() finds for %s the name %s", (misspelled, meant) => {
  expect(closestName(misspelled, names)).toBe(meant);
});

it.each(["", "x", "write", "delete", "resumption", "r".repeat(100_000)])(
  "closestName() returns undefined for %s",
  (misspelled) => {
    expect(closestName(misspelled, names)).toBeUndefined();
  },
);
