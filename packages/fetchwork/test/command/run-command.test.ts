import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { defineCommand, type Command, type CommandGroup } from "../../src/command/command.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { CommandUsageError } from "../../src/command/usage-error.ts";
import { memoryIo } from "../memory-io.ts";

const greet: Command = defineCommand({
  summary: "Greets somebody",
  positionals: ["name", "[title...]"],
  options: {
    loud: { type: "boolean", short: "l", description: "Shout" },
    times: { type: "string", default: "1", hint: "count", description: "How often" },
  },
  run({ values, positionals }, io) {
    const count = Number(values.times);
    if (!(count > 0)) throw new CommandUsageError("--times must be positive");
    const [name = "", ...titles] = positionals;
    const line = [...titles, name].join(" ").repeat(count);
    io.stdout.write(`${values.loud === true ? line.toUpperCase() : line}\n`);
    return Promise.resolve(0);
  },
});

const root: CommandGroup = {
  summary: "A test",
  commands: new Map<string, () => Promise<Command | CommandGroup>>([
    ["greet", () => Promise.resolve(greet)],
    [
      "fail",
      () =>
        Promise.resolve(
          defineCommand({
            summary: "Fails",
            options: {},
            run: () => Promise.reject(new Error("no luck")),
          }),
        ),
    ],
    [
      "deep",
      () =>
        Promise.resolve({
          summary: "More",
          commands: new Map([["greet", () => Promise.resolve(greet)]]),
        }),
    ],
  ]),
};

async function run(...args: string[]): Promise<readonly [number, string, string]> {
  const io = memoryIo();
  const code = await runCommand(root, { args, io });
  return [code, io.written.stdout, io.written.stderr];
}

describe("runCommand", () => {
  it("escapes control sequences in messages of failures", async () => {
    const quote = defineCommand({
      summary: "Quotes",
      options: {},
      run: () => Promise.reject(new Error("got \u001b[2J\u009b2J and\nanother line")),
    });
    const commands = new Map([["quote", () => Promise.resolve(quote)]]);
    const io = memoryIo();
    expect(await runCommand({ summary: "A test", commands }, { args: ["quote"], io })).toBe(1);
    expect(io.written.stderr).toBe("fetchwork quote: got ?[2J?2J and?another line\n");
  });

  it.each([
    [["gret"], `fetchwork: unknown command "gret", did you mean "greet"?\nTry: fetchwork --help\n`],
    [["--loud"], `fetchwork: unknown option "--loud"\nTry: fetchwork --help\n`],
    [["__proto__"], `fetchwork: unknown command "__proto__"\nTry: fetchwork --help\n`],
    [["greet"], "fetchwork greet: name is missing\nTry: fetchwork greet --help\n"],
    [
      ["greet", "a", "--lod"],
      `fetchwork greet: unknown option "--lod", did you mean "--loud"?\nTry: fetchwork greet --help\n`,
    ],
    [
      ["greet", "a", "--times", "-1"],
      "fetchwork greet: the value of --times is missing; write --times=-value if it begins with a dash\nTry: fetchwork greet --help\n",
    ],
    [
      ["greet", "a", "--times"],
      "fetchwork greet: the value of --times is missing\nTry: fetchwork greet --help\n",
    ],
    [
      ["greet", "a", "--loud=very"],
      "fetchwork greet: --loud does not take a value\nTry: fetchwork greet --help\n",
    ],
    [["greet", "a", "-x"], 'fetchwork greet: unknown option "-x"\nTry: fetchwork greet --help\n'],
    [
      ["deep", "gret"],
      'fetchwork deep: unknown command "gret", did you mean "greet"?\nTry: fetchwork deep --help\n',
    ],
    [
      ["greet", "a", "--times=0"],
      "fetchwork greet: --times must be positive\nTry: fetchwork greet --help\n",
    ],
  ])("refuses %j with one line and exit code 2", async (args, message) => {
    expect(await run(...args)).toEqual([2, "", message]);
  });

  it("reports a failure in one line and exits with 1", async () => {
    expect(await run("fail")).toEqual([1, "", "fetchwork fail: no luck\n"]);
    expect(await run("fail", "x")).toMatchObject([
      2,
      "",
      expect.stringContaining('unexpected argument "x"'),
    ]);
  });

  it("passes typed options and positional arguments", async () => {
    expect(await run("greet", "Ada", "Countess", "-l", "--times", "2")).toEqual([
      0,
      "COUNTESS ADACOUNTESS ADA\n",
      "",
    ]);
    expect(await run("greet", "--", "--help")).toEqual([0, "--help\n", ""]);
  });

  it("prints the help of groups and commands", async () => {
    const [code, help] = await run("deep", "greet", "--help");
    expect(code).toBe(0);
    expect(help).toContain("Usage: fetchwork deep greet <name> [title...] [options]");
    expect(help).toContain("  -l, --loud           Shout");
    expect(help).toContain("--times <count>  How often (default: 1)");
  });

  it.each([
    [["help"], ["--help"]],
    [
      ["help", "greet"],
      ["greet", "--help"],
    ],
    [
      ["help", "deep"],
      ["deep", "--help"],
    ],
    [
      ["deep", "help"],
      ["deep", "--help"],
    ],
    [
      ["help", "deep", "greet"],
      ["deep", "greet", "--help"],
    ],
    [
      ["deep", "help", "greet"],
      ["deep", "greet", "--help"],
    ],
  ])("prints for %j what %j prints", async (given, same) => {
    const printed = await run(...given);
    expect(printed).toEqual([0, expect.stringContaining("Usage: fetchwork"), ""]);
    expect(printed).toEqual(await run(...same));
  });

  it("prints the help of a group without a command and exits with 2 on every level", async () => {
    expect(await run()).toEqual([2, expect.stringContaining("Usage: fetchwork <command>"), ""]);
    expect(await run("deep")).toEqual([
      2,
      expect.stringContaining("Usage: fetchwork deep <command>"),
      "",
    ]);
  });

  it.each(["-v", "--version"])("prints the version for %s", async (option) => {
    expect(await run(option)).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/), ""]);
  });

  it("exits with 130 when a signal stopped a command, whatever the command throws", async () => {
    const stop = new AbortController();
    const wait = defineCommand({
      summary: "Waits",
      options: {},
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("something else")));
          stop.abort(new Error("interrupted"));
        }),
    });
    const commands = new Map([["wait", () => Promise.resolve(wait)]]);
    const io = memoryIo({ signal: stop.signal });
    expect(await runCommand({ summary: "A test", commands }, { args: ["wait"], io })).toBe(130);
    expect(io.written.stderr).toBe("fetchwork wait: interrupted\n");
  });

  it.each([
    [
      "ENOENT",
      () => readFile("/nowhere/notes.txt"),
      "cannot open /nowhere/notes.txt: no such file or directory",
    ],
    ["EISDIR", () => readFile("/"), "illegal operation on a directory"],
    ["ENOTDIR", () => readFile("/dev/null/x"), "cannot open /dev/null/x: not a directory"],
    [
      "ENOENT of a program",
      () => promisify(execFile)("no-such"),
      "cannot run no-such: no such file or directory",
    ],
    [
      "ECONNREFUSED",
      () => once(connect(1, "127.0.0.1"), "x"),
      "cannot connect to 127.0.0.1:1: connection refused",
    ],
  ])("reports %s in words, without the text of the platform", async (_, action, message) => {
    const fail = defineCommand({
      summary: "Fails",
      options: {},
      run: () => action().then(() => 0),
    });
    const commands = new Map([["fail", () => Promise.resolve(fail)]]);
    const io = memoryIo();
    expect(await runCommand({ summary: "A test", commands }, { args: ["fail"], io })).toBe(1);
    expect(io.written.stderr).toBe(`fetchwork fail: ${message}\n`);
  });
});

describe("the installed command", () => {
  const bin = join(import.meta.dirname, "../../bin/fetchwork.mjs");

  it("runs from sources and forwards its exit code", async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [bin, "--version"]);
    expect(stdout).toBe("0.1.0\n");
    await expect(promisify(execFile)(process.execPath, [bin, "nothing"])).rejects.toMatchObject({
      code: 2,
    });
  });

  it("runs from a folder whose name has spaces and punctuation", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fetchwork 100% é#"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await cp(bin, join(folder, "bin/fetchwork.mjs"));
    await mkdir(join(folder, "src"));
    await writeFile(join(folder, "src/main.ts"), "console.log(process.argv.slice(2));");
    const command = join(folder, "bin/fetchwork.mjs");
    const { stdout } = await promisify(execFile)(process.execPath, [command, "new"]);
    expect(stdout).toBe("[ 'new' ]\n");
  });

  it("forwards a signal to its child and ends with it", async () => {
    const folder = await mkdtemp(join(tmpdir(), "fetchwork-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await cp(bin, join(folder, "bin/fetchwork.mjs"));
    await mkdir(join(folder, "src"));
    const program = `process.once("SIGTERM", () => process.exit(7));
      setTimeout(() => process.exit(8), 20_000);
      console.log("ready");`;
    await writeFile(join(folder, "src/main.ts"), program);
    const child = spawn(process.execPath, [join(folder, "bin/fetchwork.mjs")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([7, null]);
  });

  it("counts a repeated signal as one and ends on a later one", async () => {
    const processIo = join(import.meta.dirname, "../../src/command/process-io.ts");
    const program = `import { processIo } from ${JSON.stringify(pathToFileURL(processIo).href)};
      const { signal } = processIo();
      signal.addEventListener("abort", () => console.log("aborted"));
      setTimeout(() => process.exit(8), 20_000);
      console.log("ready");`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    await setTimeout(600);
    expect(child.exitCode).toBeNull();
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([143, null]);
  });
});
