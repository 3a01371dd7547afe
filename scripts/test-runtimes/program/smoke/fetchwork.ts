import { commands, exitCodes, runCommand, type CommandOutput } from "fetchwork";
import { expect } from "../platform.ts";

/** Runs commands in the process: help, and one that is refused. */
export async function smoke(): Promise<void> {
  const [code, help] = await run("--help");
  const names = [...commands.commands.keys()].every((name) => help.includes(name));
  expect("the help", [code, names], [exitCodes.ok, true]);
  const [refused, , message] = await run("db", "status", "--no-such-option");
  expect("a refusal", [refused, message.includes("--no-such-option")], [exitCodes.usage, true]);
}

async function run(...args: readonly string[]): Promise<readonly [number, string, string]> {
  const written = { stdout: "", stderr: "" };
  const output = (name: keyof typeof written): CommandOutput => ({
    isTerminal: false,
    write: (content) => void (written[name] += String(content)),
  });
  const code = await runCommand(commands, {
    args,
    io: {
      stdin: new ReadableStream<Uint8Array>(),
      stdout: output("stdout"),
      stderr: output("stderr"),
      env: {},
      cwd: process.cwd(),
      signal: new AbortController().signal,
    },
  });
  return [code, written.stdout, written.stderr];
}
