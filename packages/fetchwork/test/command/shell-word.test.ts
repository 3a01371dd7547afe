import { expect, it } from "vitest";
import { shellWord } from "../../src/command/shell-word.ts";

it.each([
  ["linux", "a/b.c", "a/b.c"],
  ["linux", "text:string!", "'text:string!'"],
  ["linux", "it's", String.raw`'it'\''s'`],
  ["win32", String.raw`C:\a\b`, String.raw`C:\a\b`],
  ["win32", "text:string!", '"text:string!"'],
  ["win32", "my api", '"my api"'],
] as const)("shellWord on %s quotes %s", (platform, text, quoted) => {
  expect(shellWord(text, platform)).toBe(quoted);
});
