import fc from "fast-check";
import { expect, it } from "vitest";
import { constantTimeEqual } from "../src/constant-time-equal.ts";

it("constantTimeEqual() is true for the same text only", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "é"), maxLength: 6 });
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(constantTimeEqual(left, right)).toBe(left === right);
    }),
  );
});
