import { describe, expect, it } from "vitest";
import { jsonLine, manyLines, oneLine } from "../../src/command/terminal-text.ts";

describe("untrusted text", () => {
  it.each([
    ["one\ttwo\nthree\r\nfour", "one\ttwo\nthree\r\nfour"],
    ["rm -rf /\rls", "rm -rf /?ls"],
    ["end\r", "end?"],
    ["a\r\r\nb", "a?\r\nb"],
    ["\u001b[2J\u009b1A\u0007\b\u007f", "?[2J?1A???"],
    ["a\u202eb\u2066c\u2028d", "a?b?c?d"],
  ])("as lines, %j is shown as %j", (text, shown) => {
    expect(manyLines(text)).toBe(shown);
  });

  it("has no line breaks and is truncated in one line", () => {
    expect(oneLine("a\nb\r\tc\u001b")).toBe("a?b??c?");
    expect(oneLine("x".repeat(300))).toHaveLength(200);
  });

  it("is escaped in JSON and reads back unchanged", () => {
    const value = { text: "\u001b[2J\u202e\u2028\u009b" };
    // oxlint-disable-next-line no-control-regex
    expect(jsonLine(value)).not.toMatch(/[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/);
    expect(JSON.parse(jsonLine(value))).toEqual(value);
  });
});
