import { describe, expect, it } from "vitest";
import { findAccessToken } from "../src/access-token.ts";
import { Problem } from "../src/problem.ts";

const none = { authorization: null, queryTokens: [], bodyToken: undefined };

describe("findAccessToken", () => {
  it.each([
    { ...none, authorization: "Bearer a", queryTokens: ["a"] },
    { ...none, authorization: "Bearer a", bodyToken: "a" },
    { ...none, queryTokens: ["a"], bodyToken: "a" },
    { ...none, queryTokens: ["a", "b"] },
    { ...none, bodyToken: ["a", "b"] },
    { ...none, bodyToken: 1 },
    { ...none, bodyToken: { toString: "a" } },
  ])("refuses %j with 400", (places) => {
    expect(() => findAccessToken(places)).toThrow(Problem);
  });

  it.each([
    [none, undefined],
    [{ ...none, authorization: "Basic YTpi" }, undefined],
    [{ ...none, bodyToken: "" }, undefined],
    [{ ...none, bodyToken: null }, undefined],
    [{ ...none, authorization: "bearer a" }, "a"],
    [{ ...none, queryTokens: ["a"] }, "a"],
    [{ ...none, bodyToken: "a" }, "a"],
    [{ ...none, authorization: "Basic YTpi", bodyToken: "a" }, "a"],
  ])("finds in %j the token %j", (places, expected) => {
    expect(findAccessToken(places)).toBe(expected);
  });
});
