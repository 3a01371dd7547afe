import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readPrompt } from "../../src/agent/read-prompt.ts";
import type { CommandIo } from "../../src/command/command-io.ts";
import { memoryIo } from "../memory-io.ts";

let io: CommandIo;
beforeEach(() => {
  io = memoryIo({ cwd: mkdtempSync(join(tmpdir(), "agent-prompt-")) });
  mkdirSync(join(io.cwd, "folder"));
  writeFileSync(join(io.cwd, "prompt.md"), "\uFEFFEine Übung\n");
  writeFileSync(join(io.cwd, "utf16.txt"), Buffer.from("\uFEFFEine Übung\n", "utf16le"));
  writeFileSync(join(io.cwd, "latin1.txt"), Buffer.from("Übung", "latin1"));
  writeFileSync(join(io.cwd, "blank"), " \n");
  writeFileSync(join(io.cwd, "large"), "x".repeat(1024 * 1024 + 1));
});
afterEach(() => rmSync(io.cwd, { recursive: true, force: true }));

const read = (argument: string): Promise<string | undefined> =>
  readPrompt({ argument, option: undefined }, io);

describe("readPrompt", () => {
  it("rejects two prompts", async () => {
    await expect(readPrompt({ argument: "a", option: "b" }, io)).rejects.toThrow("not both");
  });

  it.each([
    ["missing.md", "does not exist"],
    ["blank", "blank"],
    ["  ", "blank"],
    ["latin1.txt", "not valid UTF-8"],
    ["large", "larger than 1048576 bytes"],
  ])("refuses %j", async (given, message) => {
    await expect(read(given)).rejects.toThrow(message);
  });

  it.each([
    ["prompt.md", "Eine Übung\n"],
    ["utf16.txt", "Eine Übung\n"],
    ["./prompt.md", "Eine Übung\n"],
    ["folder", "folder"],
    ["A game. See rules.md", "A game. See rules.md"],
    ["a\0b", "a\0b"],
    ["x".repeat(5000), "x".repeat(5000)],
  ])("reads %j", async (given, prompt) => {
    expect(await read(given)).toBe(prompt);
  });

  it("reads standard input for -", async () => {
    const stdin = (async function* () {
      yield Buffer.from("a ga");
      yield Buffer.from("me");
    })();
    expect(await readPrompt({ argument: "-", option: undefined }, { ...io, stdin })).toBe("a game");
  });
});
