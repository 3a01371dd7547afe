import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { CommandIo } from "../../src/command/command-io.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";

/** What a command left behind. */
export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that runs. */
export interface Running {
  /** Resolves to the first match in what it writes to standard error. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  readonly finished: Promise<Finished>;
  stop(): void;
}

/** A user at a terminal, with a folder for settings that is empty at first. */
export interface Terminal {
  readonly configHome: string;
  start(args: readonly string[], given?: Partial<CommandIo>): Running;
  run(args: readonly string[], given?: Partial<CommandIo>): Promise<Finished>;
  /** Everything that all commands wrote, to either. */
  readonly everything: () => string;
}

/** Makes a terminal for one test. */
export async function openTerminal(): Promise<Terminal> {
  const configHome = await mkdtemp(join(tmpdir(), "fetchwork-oauth-"));
  onTestFinished(() => rm(configHome, { recursive: true, force: true }));
  let everything = "";

  function start(args: readonly string[], given: Partial<CommandIo> = {}): Running {
    const written = { stdout: "", stderr: "" };
    const waiting = new Set<() => void>();
    const stop = new AbortController();
    const output = (name: "stdout" | "stderr"): CommandIo["stdout"] => ({
      isTerminal: false,
      write(content) {
        const text = typeof content === "string" ? content : Buffer.from(content).toString();
        written[name] += text;
        everything += text;
        for (const look of waiting) look();
      },
    });
    const io: CommandIo = {
      stdin: noInput(),
      stdout: output("stdout"),
      stderr: output("stderr"),
      cwd: configHome,
      signal: stop.signal,
      ...given,
      env: { XDG_CONFIG_HOME: configHome, ...given.env },
    };
    const finished = runCommand(commands, { args: ["oauth", ...args], io }).then((code) => ({
      code,
      ...written,
    }));
    return {
      finished,
      stop: () => stop.abort(new Error("interrupted")),
      seen: (pattern) =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            const match = pattern.exec(written.stderr);
            if (match === null) return;
            waiting.delete(look);
            resolve(match);
          };
          waiting.add(look);
          look();
          void finished.then(({ stderr }) => reject(new Error(`it ended with: ${stderr}`)));
        }),
    };
  }

  return {
    configHome,
    start,
    run: (args, given) => start(args, given).finished,
    everything: () => everything,
  };
}

async function* noInput(): AsyncGenerator<Uint8Array> {}
