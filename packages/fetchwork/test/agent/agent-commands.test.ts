import { describe, expect, it } from "vitest";
import { withAgent } from "../../src/agent/agent-commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";

describe("fetchwork agent without its package", () => {
  const missing = "Cannot find package '@fetchwork/agent' imported from /a/run.js";
  const root = (message: string): Parameters<typeof runCommand>[0] => ({
    summary: "",
    commands: new Map([["agent", withAgent(() => Promise.reject(new Error(message)))]]),
  });

  it("says how to install it, and exits with 1", async () => {
    const io = memoryIo();
    expect(await runCommand(root(missing), { args: ["agent", "a"], io })).toBe(1);
    expect(io.written).toEqual({
      stdout: "",
      stderr:
        "fetchwork: the package @fetchwork/agent is not installed\nInstall it with: npm install @fetchwork/agent (in a clone of Fetchwork, `npm run pack -- agent` prints the line to use)\n",
    });
  });

  it("says nothing of it for another package that is missing", async () => {
    const io = memoryIo();
    const other = "Cannot find package 'ai' imported from /a/node_modules/@fetchwork/agent/x.js";
    expect(await runCommand(root(other), { args: ["agent", "a"], io })).toBe(1);
    expect(io.written.stderr).toBe(`fetchwork: ${other}\n`);
  });
});
