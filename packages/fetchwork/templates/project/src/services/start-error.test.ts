import { describe, expect, it } from "vitest";
import { about } from "../about.ts";
import { startFailure, StartError } from "./start-error.ts";

describe("startFailure", () => {
  it("is one line for what the operator can put right", () => {
    expect(startFailure(new StartError("PORT is wrong"))).toBe(`${about.name}: PORT is wrong`);
  });

  it("has the stack of anything else", () => {
    expect(startFailure(new TypeError("x is undefined"))).toMatch(
      /^[a-z\d-]+: TypeError: x is undefined\n +at .*start-error\.test\.ts:\d+/,
    );
    expect(startFailure("a text")).toBe(`${about.name}: 'a text'`);
  });
});
