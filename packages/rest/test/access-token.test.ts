import { describe, expect, it } from "vitest";
import { findAccessToken } from "../src/access-token.ts";
import { Problem } from "../src/problem.ts";

const none = { authorization: null, query: [], body: undefined };

describe("findAccessToken", () => {
  it.each([
    { ...none, authorization: "Bearer a", query: ["a"] },
    { ...none, authorization: "Bearer a", body: "a" },
    { ...none, query: ["a"], body: "a" },
    { ...none, query: ["a", "b"] },
    { ...none, body: ["a", "b"] },
    { ...none, body: 1 },
    { ...none, body: { toString: "a" } },
  ])("refuses %j with 400", (places) => {
    expect(() => findAccessToken(places)).toThrow(Problem);
  });

  it.each([
    [none, undefined],
    [{ ...none, authorization: "Basic YTpi" }, undefined],
    [{ ...none, body: "" }, undefined],
    [{ ...none, body: null }, undefined],
    [{ ...none, authorization: "bearer a" }, "a"],
    [{ ...none, query: ["a"] }, "a"],
    [{ ...none, body: "a" }, "a"],
    [{ ...none, authorization: "Basic YTpi", body: "a" }, "a"],
  ])("finds in %j the token %j", (places, expected) => {
    expect(findAccessToken(places)).toBe(expected);
  });
});
