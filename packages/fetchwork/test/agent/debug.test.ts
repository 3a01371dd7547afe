import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  startModelServer,
  type ModelServer,
  type ScriptedAnswer,
} from "../../../agent/test/model-server.ts";
import type { CommandIo } from "../../src/command/command-io.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { temporaryFolder } from "./command-process.ts";

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A user with a program of two files, before a scripted model. */
async function atHome(answers: readonly ScriptedAnswer[]) {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "a.js"), "import { b } from './b.js';\nb();\n");
  writeFileSync(join(cwd, "b.js"), "export const c = 1;\n");
  server = await startModelServer({ answers });
  const env = { FETCHWORK_BASE_URL: server.baseUrl, FETCHWORK_MODEL: "scripted" };
  const run = async (args: readonly string[], given: Partial<CommandIo> = {}) => {
    const io = memoryIo({ cwd, env, ...given });
    const code = await runCommand(commands, { args: ["agent", ...args], io });
    return { code, ...io.written };
  };
  return { cwd, run };
}

const explained = { match: ["# Error\n\nb is not a function"], text: "# Cause\n\nIt is `c`." };

describe("fetchwork agent debug", () => {
  it("explains an error without changing the program", async () => {
    const { run, cwd } = await atHome([explained]);
    const result = await run(["debug", ".", "b is not a function"]);
    expect(result).toEqual({ code: 0, stdout: "# Cause\n\nIt is `c`.\n", stderr: "" });
    expect(server?.requests[0]?.messages.join()).toContain('does not export "b"');
    expect(readdirSync(cwd).toSorted()).toEqual(["a.js", "b.js"]);
  });

  it("reads the error from a file and prints JSON", async () => {
    const { run, cwd } = await atHome([explained]);
    writeFileSync(join(cwd, "error.txt"), "b is not a function");
    const { stdout } = await run(["debug", ".", "--prompt", "error.txt", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ explanation: explained.text });
  });

  it("escapes control sequences of a response on a terminal", async () => {
    const { run } = await atHome([{ text: "\u001B[2Jgone\u202E" }]);
    const io = memoryIo({});
    await run(["debug", ".", "x"], { stdout: { ...io.stdout, isTerminal: true } });
    const shown = io.written.stdout;
    expect(shown).toContain("gone");
    expect([shown.includes("\u001B"), shown.includes("\u202E")]).toEqual([false, false]);
  });

  it.each([
    [["debug", "."], "error is missing"],
    [["debug", "missing", "x"], 'the folder "missing" does not exist'],
    [["debug", ".", "x", "--max-cost", "1"], "--max-cost requires the price of the model"],
  ])("refuses %j with exit code 2, and ask no model", async (args, message) => {
    const { run } = await atHome([]);
    const { code, stderr, stdout } = await run(args);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([2, ""]);
    expect(server?.requests).toEqual([]);
  });

  it("prints a failure as a line of JSON with --json", async () => {
    const { run } = await atHome([{ fault: { kind: "status", status: 401 } }]);
    const { code, stdout, stderr } = await run(["debug", ".", "x", "--json"]);
    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ type: "failed" });
    expect(stderr).toContain("fetchwork agent debug: ");
  });

  it("exits with 5 without a provider", async () => {
    const { run } = await atHome([]);
    const { code, stderr } = await run(["debug", ".", "x"], { env: {} });
    expect(code).toBe(5);
    expect(stderr).toContain("OPENAI_API_KEY");
  });

  it("exits with 4 when the budget is exhausted", async () => {
    const { run } = await atHome([{ text: "ok" }]);
    const { code } = await run(["debug", ".", "x", "--max-tokens", "10"]);
    expect(code).toBe(4);
  });
});
