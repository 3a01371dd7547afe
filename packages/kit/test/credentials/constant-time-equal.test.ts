import fc from "fast-check";
import { expect, it } from "vitest";
import { constantTimeEqual } from "../../src/credentials/constant-time-equal.ts";

it.each([
  ["", "secret"],
  ["secret", ""],
  ["secre", "secret"],
  ["secrets", "secret"],
  ["secretsecret", "secret"],
  ["Secret", "secret"],
  ["sécret", "se\u0301cret"],
])("constantTimeEqual() distinguishes %j from %j", (sent, secret) => {
  expect(constantTimeEqual(sent, secret)).toBe(false);
});

it("constantTimeEqual() agrees with === for well-formed text", () => {
  const text = fc.string({ unit: "grapheme", maxLength: 8 });
  fc.assert(
    fc.property(text, text, (left, right) => {
      expect(constantTimeEqual(left, right)).toBe(left === right);
      expect(constantTimeEqual(left, left)).toBe(true);
    }),
  );
});
