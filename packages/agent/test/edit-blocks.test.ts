import { describe, expect, it } from "vitest";
import { applyEdits } from "../src/files/apply-edits.ts";
import { readEditBlocks } from "../src/files/edit-blocks.ts";

const block = (search: string, replace: string): string =>
  `<<<<<<< SEARCH\n${search}=======\n${replace}>>>>>>> REPLACE\n`;

/**
 * The file after the answer's edits; the form where it has none, the problem where they do not fit.
 */
function after(text: string, answer: string): string {
  const blocks = readEditBlocks(answer, "a.js");
  if (blocks.form !== "edits") return blocks.form;
  const outcome = applyEdits(new Map([["a.js", text]]), blocks.edits);
  return outcome.ok ? (outcome.files.get("a.js") ?? "") : (outcome.problems[0]?.kind ?? "");
}

describe("readEditBlocks", () => {
  it.each([
    ["replaces lines", "a\nb\nc\n", block("b\n", "B\nbb\n"), "a\nB\nbb\nc\n"],
    ["takes lines away", "a\nb\nc\n", block("b\n", ""), "a\nc\n"],
    ["reads several blocks", "a\nb\nc\n", block("a\n", "1\n") + block("c\n", "3\n"), "1\nb\n3\n"],
    [
      "leaves out fences and sentences around the blocks",
      "a\nb\n",
      `Here it is:\n\`\`\`js\n${block("a\n", "1\n")}\`\`\`\nDone.\n`,
      "1\nb\n",
    ],
    ["takes answers with CRLF", "a\nb\n", block("a\n", "1\n").replaceAll("\n", "\r\n"), "1\nb\n"],
    ["keeps the line ends of a file with CRLF", "a\r\nb\r\n", block("a\n", "1\n"), "1\r\nb\r\n"],
    ["reaches a last line without an end", "a\nb", block("b\n", "c\n"), "a\nc\n"],
    [
      "takes no part of a line for the line",
      "return xs\n",
      block("return x\n", "no\n"),
      "no-match",
    ],
  ])("%s", (_, text, answer, result) => {
    expect(after(text, answer)).toBe(result);
  });

  it.each([
    ["an answer without blocks is something else", "const a = 1;\n", "none"],
    ["a block that was cut is broken", "<<<<<<< SEARCH\na\n=======\nb\n", "broken"],
    ["a block without a middle is broken", "<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n", "broken"],
    ["an end without a begin is broken", "a\n>>>>>>> REPLACE\n", "broken"],
    ["a block inside of a block is broken", `<<<<<<< SEARCH\n${block("a\n", "b\n")}`, "broken"],
    ["a second middle is broken", block("Title\n=======\n", "Other\n"), "broken"],
  ])("%s", (_, answer, form) => {
    expect(readEditBlocks(answer, "a.js").form).toBe(form);
  });
});
