import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillTemplate } from "../../src/new/template-text.ts";

const conditions = { users: true, oidc: false };
const replacements = new Map([["my-api", "shop"]]);

describe("fillTemplate", () => {
  it.each([
    ["a\n// #if users\nb\n// #endif\nc", "a\nb\nc"],
    ["a\n// #if oidc\nb\n// #endif\nc", "a\nc"],
    ["a\n  // #if !oidc\n  b\n  // #endif\nc", "a\n  b\nc"],
    ["// #if users && oidc\nb\n// #endif\nc", "c"],
    ["// #if users && !oidc\nb\n// #endif\nc", "b\nc"],
    ["// #if users\na\n// #if oidc\nb\n// #endif\nc\n// #endif", "a\nc"],
    ["// #if oidc\na\n// #if users\nb\n// #endif\nc\n// #endif\nd", "d"],
    ["f(); // #if users\ng(); // #if oidc", "f();"],
    ["// #if !oidc\n//+ const a = [];\n// #endif", "const a = [];"],
    ["  //+ a\n//+\nb", "  a\n\nb"],
    ["# #if oidc\nA=1\n# #endif\nB=2 # #if users", "B=2"],
    ["<!-- #if oidc -->\n| a |\n<!-- #endif -->\n| b | <!-- #if users -->", "| b |"],
    ['const name = "my-api"; // my-api', 'const name = "shop"; // shop'],
    ["// A comment with #if in it\n# Heading", "// A comment with #if in it\n# Heading"],
  ])("fills %j", (text, filled) => {
    expect(fillTemplate(text, conditions, replacements)).toBe(filled);
  });

  it.each([
    ["a\n// #endif", "unmatched"],
    ["// #if users\na", "without an #endif"],
    ["// #if sockets\n// #endif", '"sockets"'],
    ["// #if toString\n// #endif", '"toString"'],
    ["a // #if users ||  oidc", '"users ||  oidc"'],
  ])("refuses %j", (text, message) => {
    expect(() => fillTemplate(text, conditions, replacements)).toThrow(message);
  });

  it("returns a text without markers unchanged", () => {
    const plain = fc.string({ unit: "grapheme" }).filter((text) => !/#|\/\/\+|my-api/.test(text));
    fc.assert(fc.property(plain, (text) => fillTemplate(text, conditions, replacements) === text));
  });
});
