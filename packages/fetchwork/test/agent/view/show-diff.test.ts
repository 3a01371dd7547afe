import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { diffText } from "../../../src/agent/view/diff-text.ts";
import { memoryIo } from "../../memory-io.ts";

const change = {
  path: "a.txt",
  action: "updated",
  before: "one\n",
  after: "\u001b[2Jtwo\r\u202ethree\n",
  beside: undefined,
} as const;

describe("diffText", () => {
  it("escapes control sequences, carriage returns and bidirectional text for a terminal", () => {
    const io = memoryIo({ stdout: { isTerminal: true, write() {} } });
    const text = diffText(change, io);
    expect(text).toContain("\u001b[31m-one\u001b[39m\n");
    expect(stripVTControlCharacters(text)).toBe(
      "--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+?[2Jtwo??three\n",
    );
    expect(text).not.toContain("\u001b[2J");
  });

  it("writes the diff unchanged to a pipe, so that it can be applied", () => {
    expect(diffText(change, memoryIo())).toBe(
      `--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+${change.after}`,
    );
  });
});
