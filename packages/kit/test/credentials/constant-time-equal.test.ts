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

it("constantTimeEqual() compares bytes, also with a text in UTF-8", () => {
  const bytes = Uint8Array.of(0xc3, 0xa9, 0);
  expect(constantTimeEqual(bytes, bytes.slice())).toBe(true);
  expect(constantTimeEqual(bytes, "é\0")).toBe(true);
  expect(constantTimeEqual(bytes, bytes.subarray(0, 2))).toBe(false);
  expect(constantTimeEqual(bytes.with(2, 1), bytes)).toBe(false);
});
