import { describe, expect, it } from "vitest";
import { startFailure, StartError } from "./start-error.ts";

describe("startFailure", () => {
  it("is one line for what the operator can put right", () => {
    expect(startFailure(new StartError("PORT is wrong"))).toBe("blog: PORT is wrong");
  });

  it("has the stack of anything else", () => {
    expect(startFailure(new TypeError("x is undefined"))).toMatch(
      /^blog: TypeError: x is undefined\n +at .*start-error\.test\.ts:\d+/,
    );
    expect(startFailure("a text")).toBe("blog: 'a text'");
  });
});
