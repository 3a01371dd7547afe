import { describe, expect, it } from "vitest";
import { StartError } from "../src/index.ts";
import { startFailure } from "../src/start-failure.ts";

describe("startFailure", () => {
  it("is one line for each fault that the operator can put right", () => {
    expect(startFailure("notes", new StartError("PORT is wrong"))).toBe("notes: PORT is wrong");
    const both = new StartError("PORT is wrong\nLOG is wrong");
    expect(startFailure("notes", both)).toBe("notes: PORT is wrong\nnotes: LOG is wrong");
  });

  it("has the stack of anything else", () => {
    expect(startFailure("notes", new TypeError("x is undefined"))).toMatch(
      /^notes: TypeError: x is undefined\n +at .*start-failure\.test\.ts:\d+/,
    );
    expect(startFailure("notes", "a text")).toBe("notes: 'a text'");
  });
});
