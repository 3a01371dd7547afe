import { describe, expect, it } from "vitest";
import { createListReader } from "../../src/plan/list-query.ts";
import { Problem } from "../../src/problem.ts";
import type { ListRules } from "../../src/resource/list-rules.ts";

const rules: ListRules = {
  sortable: ["id", "createdAt"],
  selectable: ["id"],
  defaultSort: ["-createdAt"],
  geo: "place",
};

function refusal(text: string): unknown {
  try {
    createListReader(rules)(new URLSearchParams(text));
  } catch (error) {
    if (error instanceof Problem) return error.errors.map(({ param, name }) => [param, name]);
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("near", () => {
  it.each([
    ["near=1", "near", "minlength"],
    ["near=1,2,3", "near", "maxlength"],
    ["near=x,2", "near", "type"],
    ["near=1,", "near", "type"],
    ["near=1e2,2", "near", "type"],
    ["near=NaN,2", "near", "type"],
    ["near=91,0", "near", "max"],
    ["near=-91,0", "near", "min"],
    ["near=0,181", "near", "max"],
    ["near=0,-181", "near", "min"],
    ["near=1,2&near=3,4", "near", "once"],
    ["near=1,2&min_distance=-1", "min_distance", "min"],
    ["near=1,2&max_distance=far", "max_distance", "type"],
    ["near=1,2&min_distance=3&max_distance=2", "min_distance", "max"],
    ["near=1,2&sort=id", "sort", "mixed"],
    ["max_distance=5", "near", "required"],
  ])("refuses %s", (text, param, name) => {
    expect(refusal(text)).toEqual([[param, name]]);
  });

  it("reads a place and distances", () => {
    const text = "near=-22.84, -44.32&min_distance=10&max_distance=2000.5";
    expect(createListReader(rules)(new URLSearchParams(text)).near).toEqual({
      field: "place",
      latitude: -22.84,
      longitude: -44.32,
      minDistance: 10,
      maxDistance: 2000.5,
    });
  });

  it("is not a parameter of a list without places", () => {
    const { geo: _, ...others } = rules;
    const read = createListReader(others);
    expect(() => read(new URLSearchParams("near=1,2"))).toThrow("near is not a parameter here");
  });
});
