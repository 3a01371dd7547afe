import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@fetchwork/documents";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createProgress } from "../../src/db/progress.ts";
import { memoryIo, type MemoryIo } from "../memory-io.ts";
import { allEngines, newFolder, runDb } from "./db-world.ts";
import { items } from "./shop-definitions.ts";

const mainFile = join(import.meta.dirname, "../../src/main.ts");
const terminalColumns = 60;
const documentCount = 15_000;
/** Why nothing can be run on a terminal, if so; never in CI, where that is a failure. */
const noTerminal =
  spawnSync("script", ["--version"]).status !== 0 && process.env["CI"] !== "true"
    ? "script of util-linux is not installed"
    : undefined;

async function fill(): Promise<string> {
  const url = `sqlite:${join(newFolder(), "from.db")}`;
  await using store = await openStore(url, { collections: [items] });
  const names = Array.from({ length: documentCount }, (_entry, index) => ({
    name: `item ${index}`,
  }));
  await store.collection(items).insertMany(names);
  return url;
}

/** A command on a terminal of 60 columns. */
interface OnTerminal {
  /** Everything that the terminal shows, in order, when it ended. */
  readonly shown: Promise<string>;
  /** The exit code, or the signal. */
  readonly ended: Promise<unknown>;
}

/** Runs a command on a terminal, and calls back with each state of the bar. */
function runOnTerminal(
  args: readonly string[],
  onBar: (percent: number, run: ChildProcess) => void = () => undefined,
): OnTerminal {
  const words = [process.execPath, "--conditions=@fetchwork/source", mainFile, "db", ...args];
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const command = `stty cols ${terminalColumns} rows 20; exec ${quoted}`;
  const env = { ...process.env, TERM: "xterm", NO_COLOR: "" };
  const child = spawn("script", ["-qefc", command, "/dev/null"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit").then(([code, signal]: readonly unknown[]) => code ?? signal);
  const read = async (): Promise<string> => {
    let text = "";
    let seen = 0;
    child.stdout.setEncoding("utf8");
    for await (const chunk of child.stdout) {
      text += String(chunk);
      for (const bar of barsOf(text).slice(seen)) {
        seen += 1;
        onBar(bar.percent, child);
      }
    }
    return text;
  };
  return { shown: read(), ended };
}

function barsOf(
  text: string,
): readonly { readonly percent: number; readonly documents: number; readonly length: number }[] {
  // oxlint-disable-next-line no-control-regex
  const bars = text.matchAll(/\r(\[#*-*\] *(\d+)% (\d+) documents \S*)\u001b\[K/g);
  return [...bars].map(([, line = "", percent, documents]) => ({
    percent: Number(percent),
    documents: Number(documents),
    length: line.length,
  }));
}

/** Kills the terminal with all that runs on it, as `kill -9` of each would. */
function killAll(child: ChildProcess): void {
  // The command has a separate session, and is the only child of `script`, which is stopped so
  // that it does not see the command end and exit by itself.
  child.kill("SIGSTOP");
  spawnSync("pkill", ["-KILL", "-P", String(child.pid)]);
  child.kill("SIGKILL");
}

describe.skipIf(noTerminal !== undefined)("the progress bar on a terminal", () => {
  it("fills during a backup and a restore and is erased at their end", async () => {
    const from = await fill();
    const folder = newFolder();
    const file = join(folder, "a.jsonl");
    for (const [args, result] of [
      [["backup", file, "-u", from], `${documentCount} documents in `],
      [["restore", file, "-u", `sqlite:${folder}/b.db`], `${documentCount} documents restored`],
    ] as const) {
      const { shown, ended } = runOnTerminal(args);
      const text = await shown;
      expect(await ended).toBe(0);
      const bars = barsOf(text);
      expect(bars.length).toBeGreaterThan(1);
      expect(bars.map(({ documents }) => documents)).toEqual(
        bars.map(({ documents }) => documents).toSorted((one, other) => one - other),
      );
      for (const bar of bars) {
        expect(bar.length).toBeLessThan(terminalColumns);
        expect(bar.percent).toBe(Math.trunc((bar.documents / documentCount) * 100));
      }
      // The cursor is at the beginning of an empty line when the result comes.
      expect(text).toContain(`\r\u001b[K${result}`);
    }
  }, 60_000);
});

describe.skipIf(noTerminal !== undefined).each(allEngines)(
  "kill -9 under the bar, to %s",
  (_engine, newUrl) => {
    it("leaves nothing of a restore, which can be repeated", async () => {
      const folder = newFolder();
      const file = join(folder, "a.jsonl.gz");
      expect((await runDb(["backup", file, "-u", await fill()]))[0]).toBe(0);
      const to = await newUrl();
      const { shown, ended } = runOnTerminal(["restore", file, "-u", to], (percent, run) => {
        if (percent >= 5) killAll(run);
      });
      await shown;
      expect(await ended).toBe("SIGKILL");
      const done = await runDb(["restore", file, "-u", to]);
      expect(done).toEqual([0, `${documentCount} documents restored\n`, ""]);
    }, 120_000);
  },
);

describe.skipIf(noTerminal !== undefined)("kill -9 of a backup", () => {
  it("leaves no file of the target name, so that the next backup succeeds", async () => {
    const from = await fill();
    const folder = newFolder();
    const file = join(folder, "a.jsonl");
    // On a busy machine the backup may be whole before its first bar is seen here.
    for (let attempt = 0; attempt === 0 || (attempt < 10 && existsSync(file)); attempt += 1) {
      rmSync(file, { force: true });
      await runOnTerminal(["backup", file, "-u", from], (_percent, run) => killAll(run)).shown;
    }
    expect(existsSync(file)).toBe(false);
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^a\.jsonl\.[-0-9a-f]{36}\.part$/)]);
    expect((await runDb(["backup", file, "-u", from]))[0]).toBe(0);
    expect(existsSync(file)).toBe(true);
  }, 60_000);
});

describe("Progress", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["performance"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function ioWith(stderr: { readonly isTerminal: boolean; readonly columns?: number }): MemoryIo {
    const io = memoryIo();
    return Object.assign(io, { stderr: { ...io.stderr, ...stderr } });
  }

  it("writes a plain line every five seconds without a terminal", () => {
    const io = ioWith({ isTerminal: false });
    const progress = createProgress(io, { of: 400, asJson: false });
    progress.add("items", 100);
    vi.advanceTimersByTime(4999);
    progress.add("items", 100);
    expect(io.written.stderr).toBe("");
    vi.advanceTimersByTime(1);
    progress.add("items", 100);
    progress.add("items", 50);
    vi.advanceTimersByTime(5000);
    progress.add("orders", 100);
    progress.end();
    expect(io.written.stderr).toBe("75% 300 documents items\n100% 450 documents orders\n");
  });

  it.each([
    [80, "[###############---------------] 50% 50 documents items"],
    [40, "[#######-------] 50% 50 documents items"],
    [26, " 50% 50 documents items"],
    [10, " 50% 50 d"],
    [0, ""],
  ])("fits into %d columns", (columns, line) => {
    const io = ioWith({ isTerminal: true, columns });
    const progress = createProgress(io, { of: 100, asJson: false });
    progress.add("items", 50);
    expect(io.written.stderr).toBe(`\r${line}\u001b[K`);
    expect(line.length).toBeLessThan(Math.max(columns, 1));
  });
});
