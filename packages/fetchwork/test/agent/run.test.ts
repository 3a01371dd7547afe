import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { editScript } from "../../../agent/test/edit-script.ts";
import {
  startModelServer,
  type ModelServer,
  type ModelServerOptions,
  type ScriptedAnswer,
} from "../../../agent/test/model-server.ts";
import { manyFiles, projectScript } from "../../../agent/test/project-script.ts";
import type { CommandIo } from "../../src/command/command-io.ts";
import { commands } from "../../src/commands.ts";
import { runCommand } from "../../src/command/run-command.ts";
import { memoryIo } from "../memory-io.ts";
import { programOf, temporaryFolder, treeOf } from "./command-process.ts";

const parts = manyFiles(3);
const secret = "sk-very-secret-key";
let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** A user in an empty folder, before a scripted model. */
async function atHome(options: ModelServerOptions = { answers: projectScript(parts) }) {
  const cwd = temporaryFolder();
  server = await startModelServer(options);
  const env = {
    FETCHWORK_BASE_URL: server.baseUrl,
    FETCHWORK_MODEL: "scripted",
    FETCHWORK_API_KEY: secret,
  };
  const run = async (
    args: readonly string[],
    given: Partial<CommandIo> = {},
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> => {
    const io = memoryIo({ cwd, env, ...given });
    const code = await runCommand(commands, { args: ["agent", ...args], io });
    return { code, ...io.written };
  };
  return { cwd, run };
}

describe("fetchwork agent", () => {
  it.each([
    [["--debug=maybe", "x"], '--debug must be true or false, got "maybe"'],
    [["x", "y"], 'unexpected argument "y"'],
    [["--prompt", "x", "y"], "not both"],
    [["--out", "x"], "prompt is missing"],
    [["x", "--json", "--quiet"], "--json and --quiet cannot be combined"],
    [["x", "--max-cost", "1"], "--max-cost requires the price of the model"],
    [["x", "--max-cost", "1", "--price", "big=1,1"], "--max-cost requires the price of scripted"],
    [["x", "--plan", "missing"], 'the plan "missing" cannot be read'],
    [["resume"], 'no unfinished run in "generated"'],
    [["resume", "no/run"], "runId"],
    [["edit", "missing", "x"], 'the folder "missing" does not exist'],
    [["edit", "."], "request is missing"],
    [["verify", "missing"], 'the folder "missing" does not exist'],
    [["plan"], "prompt is missing"],
    [["files"], "prompt is missing"],
  ])("refuses %j with exit code 2, and asks no model", async (args, message) => {
    const { run, cwd } = await atHome();
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(server?.requests).toEqual([]);
    expect(existsSync(join(cwd, "generated"))).toBe(false);
  });

  it.each([
    [["resum"], 'unknown command "resum", did you mean "resume"? To use it as the prompt'],
    [["edti"], 'unknown command "edti", did you mean "edit"? To use it as the prompt'],
    [["verfy", "."], 'unknown command "verfy", did you mean "verify"? To use it as the prompt'],
    [["Servé"], 'unknown command "Servé", did you mean "serve"? To use it as the prompt'],
    [["--out", "x", "run"], 'unknown command "run", did you mean "runs"? To use it as the prompt'],
    [
      ["--quiet", "resume"],
      '"resume" is a command name and must come before all options; to use it as the prompt',
    ],
    [["hepl"], 'unknown command "hepl", did you mean "help"? To use it as the prompt'],
  ])("takes %j for no prompt, and asks no model", async (args, message) => {
    const { run, cwd } = await atHome();
    const { code, stdout, stderr } = await run(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`${message}, pass it with --prompt\n`);
    expect(server?.requests).toEqual([]);
    expect(existsSync(join(cwd, "generated"))).toBe(false);
  });

  it.each([
    ["what stands after two dashes", ["--", "resum"]],
    ["--prompt", ["--prompt", "resum"]],
    ["a word that is far from every command", ["pong"]],
    ["a text of several words", ["edit it"]],
  ])("takes %s for a prompt", async (_, args) => {
    const { run } = await atHome();
    expect((await run(args)).code).toBe(0);
    expect(server?.requests.length).toBeGreaterThan(0);
  });

  it("reads a prompt file whose path resembles a command", async () => {
    const { run, cwd } = await atHome();
    writeFileSync(join(cwd, "plans"), "parts");
    expect((await run(["./plans"])).code).toBe(0);
    expect(server?.requests.length).toBeGreaterThan(0);
  });

  it.each([
    ["x", "-j", "0"],
    ["x", "--max-cost", "1"],
    ["x", "--json", "--quiet"],
    ["x", "--temperature", "3"],
    ["edit", ".", "x", "--max-files", "0"],
    ["resume", "x", "--repair", "many"],
    ["plan", "x", "--max-tokens", "0"],
    ["files", "x", "--max-time", "5d"],
    ["debug", ".", "x", "--price", "1"],
    ["serve", "--concurrency", "0"],
    ["serve", "--verify", "all"],
  ])("refuses %s %s %s %s where no model is configured too", async (...args) => {
    const io = memoryIo({ cwd: temporaryFolder() });
    const given = args.filter((one) => one !== undefined);
    expect(await runCommand(commands, { args: ["agent", ...given], io })).toBe(2);
    expect(io.written.stderr).not.toContain("no model");
  });

  it("exits with 5 without a provider, names the three ways to configure one, and creates no folder", async () => {
    const { run, cwd } = await atHome();
    const { code, stderr } = await run(["a game"], { env: {} });
    expect(code).toBe(5);
    expect(stderr).toMatch(
      /^fetchwork agent: no model is configured: .*FETCHWORK_BASE_URL.*OPENAI_API_KEY.*ANTHROPIC_API_KEY.*--replay/,
    );
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(existsSync(join(cwd, "generated"))).toBe(false);
  });

  const refusal: ScriptedAnswer = {
    fault: { kind: "status", status: 401, body: { error: { message: `bad key ${secret}` } } },
  };
  it.each([
    ["the key is refused", 5, refusal, []],
    [
      "the account is spent",
      5,
      { fault: { kind: "status", status: 429, body: { error: { code: "insufficient_quota" } } } },
      [],
    ],
    ["the answer is refused", 1, { fault: { kind: "refusal" } }, []],
    ["the tokens are used up", 4, {}, ["--max-tokens", "100"]],
    ["the money is used up", 4, {}, ["--max-cost", "0.000001", "--price", "1,1"]],
    ["there are too many files", 4, { times: 0 }, ["--max-files", "2"]],
    ["the files are too large", 4, { times: 0 }, ["--max-total-bytes", "50"]],
    ["a file is too large", 4, { times: 0 }, ["--max-file-bytes", "5"]],
  ] as const)("when %s exits %i, and shows no key", async (_, expected, first, args) => {
    const { run, cwd } = await atHome({ answers: [first, ...projectScript(parts)] });
    const { code, stdout, stderr } = await run(["parts", ...args]);
    expect(code).toBe(expected);
    // With the same limit it would end the same way.
    const how = expected === 4 ? "Raise the limit and resume with" : "Resume with";
    const [, line = ""] = new RegExp(`^${how}: fetchwork (.+)$`, "m").exec(stderr) ?? [];
    expect(line).toMatch(/^agent resume \S+ --out generated/);
    expect(programOf(join(cwd, "generated"))).toEqual({});
    const everything = [stdout, stderr, ...treeOf(cwd).values()].join("\n");
    expect(everything).not.toContain(secret);
  });

  it("exits with 4 when the time limit is exceeded", async () => {
    const { run } = await atHome({ answers: projectScript(parts), delay: 5_000 });
    expect((await run(["parts", "--max-time", "0.2s"])).code).toBe(4);
  });

  it("suggests a higher limit when resuming would fail in the same way", async () => {
    const { run, cwd } = await atHome();
    mkdirSync(join(cwd, "generated/src"), { recursive: true });
    writeFileSync(join(cwd, "generated/src/part-0.js"), "mine");
    const { code, stderr } = await run(["parts", "--on-conflict", "fail"]);
    expect(code).toBe(1);
    expect(stderr).toContain("\nChoose another --on-conflict and resume with: fetchwork agent");
  });

  it("resumes a run whose limit was too low without a second plan", async () => {
    const { run, cwd } = await atHome();
    const { stderr } = await run(["parts", "--max-files", "2"]);
    const asked = server?.requests.length ?? 0;
    expect(stderr).toContain("--max-files 2");
    const resumed = await run(["resume"]);
    expect(resumed.code).toBe(0);
    expect(
      server?.requests.filter(({ tool, task }) => !tool && task.startsWith("# Plan")),
    ).toHaveLength(1);
    expect(asked).toBeGreaterThan(0);
    expect(programOf(join(cwd, "generated"))).toEqual(Object.fromEntries(parts));
  });

  it("exits with 0 and says that the run is complete when there is nothing to resume", async () => {
    const { run, cwd } = await atHome();
    await run(["x"]);
    writeFileSync(join(cwd, "generated/src/part-0.js"), "// mine\n");
    const resumed = await run(["resume"]);
    expect(resumed).toMatchObject({ code: 0, stdout: "" });
    expect(resumed.stderr).toMatch(/^the run [\w-]+ is complete, nothing to resume\n$/);
    const { code, stdout } = await run(["resume", "--json"], { env: {} });
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { type: "complete", runId: /run ([\w-]+)/.exec(resumed.stderr)?.[1] },
    ]);
    expect(server?.requests).toHaveLength(5);
    expect(readFileSync(join(cwd, "generated/src/part-0.js"), "utf8")).toBe("// mine\n");
  });

  it("accepts the specification's forms: --prompt with a file, --model, --debug, and the folder's old option name", async () => {
    const { run, cwd } = await atHome();
    writeFileSync(join(cwd, "what.md"), "parts of a whole\n");
    const args = ["--prompt", "what.md", "--model", "other", "--debug", "False"];
    const { code, stderr } = await run([...args, "--generate_folder_path", "old"]);
    expect(code).toBe(0);
    expect(stderr).not.toContain("-----");
    expect(server?.requests.every(({ model }) => model === "other")).toBe(true);
    expect(server?.requests[0]?.messages.join("\n")).toContain("parts of a whole");
    expect(programOf(join(cwd, "old"))).toEqual(Object.fromEntries(parts));
  });

  it("accepts a prompt that equals a command name with --prompt or after --", async () => {
    for (const args of [
      ["--prompt", "plan"],
      ["--", "plan"],
    ]) {
      const { run } = await atHome();
      expect((await run(["--dry-run", ...args])).code).toBe(0);
      await server?.close();
    }
  });

  it("prints each step on standard error and the written files on standard output", async () => {
    const { run } = await atHome();
    const { stdout, stderr } = await run(["parts", "-j1"]);
    expect(stderr).toMatch(
      /^run {6}\S+\nplanned {2}[\d,]+ tokens\nfiles {4}3 in 1 level\nfile {5}1\/3 src\/part-0\.js \(24 bytes\)\nfile {5}2\/3 .*\nfile {5}3\/3 .*\nchecked {2}no errors\n$/,
    );
    expect(stdout).toMatch(
      /^created {5}shared_deps\.md[^]*created {5}src\/part-2\.js {3}24 bytes\n4 files, no errors, not run, [\d,]+ tokens in 5 calls, cost unknown\n/,
    );
  });

  it("prints nothing with --quiet", async () => {
    const { run } = await atHome();
    expect(await run(["parts", "-q"])).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("prints events as lines of JSON, with responses only for --debug", async () => {
    const { run } = await atHome();
    const events = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await run(["parts", "--json", ...args]);
      return stdout
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { readonly type: string }).type);
    };
    const types = await events("--out", "a");
    expect(types.filter((type) => type === "file")).toHaveLength(3);
    expect([types[0], types.at(-1)]).toEqual(["started", "finished"]);
    expect(types).not.toContain("token");
    expect(await events("--out", "b", "--debug")).toContain("token");
  });

  it("ends the JSON of a failed run with its code and the resume command", async () => {
    const { run } = await atHome({ answers: [refusal] });
    const { stdout } = await run(["parts", "--json"]);
    const last: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({
      type: "failed",
      code: "ERR_AGENT_AUTH",
      resume: expect.stringMatching(/^fetchwork agent resume \S+ --out generated --json$/),
    });
  });

  it("suggests no resume command for an unknown run", async () => {
    const { run } = await atHome();
    const { code, stderr } = await run(["resume", "missing"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("there is no run missing in ")]);
    expect(stderr).not.toContain("Resume with");
  });

  it.each([
    [["x"], { env: {} }, 5, "ERR_AGENT_NO_PROVIDER"],
    [["plan", "x"], { env: {} }, 5, "ERR_AGENT_NO_PROVIDER"],
    [["files", "x"], { env: {} }, 5, "ERR_AGENT_NO_PROVIDER"],
    [["edit", ".", "x"], { env: {} }, 5, "ERR_AGENT_NO_PROVIDER"],
    [["resume", "missing"], {}, 1, "ERR_AGENT_JOURNAL"],
    [["resume"], {}, 2, undefined],
    [["--replay", "missing"], {}, 5, "ERR_AGENT_REPLAY"],
    [["x", "--plan", "missing"], {}, 2, undefined],
    [["edit", "missing", "x"], {}, 2, undefined],
    [["verify", "missing"], {}, 2, undefined],
    [["runs", "--out", "a\0b"], {}, 1, "ERR_AGENT_JOURNAL"],
  ])("says in JSON that %j failed, in one line", async (args, given, exitCode, failure) => {
    const { run } = await atHome();
    const { code, stdout, stderr } = await run([...args, "--json"], given);
    expect([code, stdout.trim().split("\n").length]).toEqual([exitCode, 1]);
    const said = JSON.parse(stdout) as { readonly message: string };
    expect(said).toMatchObject({ type: "failed", message: expect.stringMatching(/./) as string });
    expect(said).toEqual(failure === undefined ? said : { ...said, code: failure });
    expect(stderr).toContain(said.message.slice(0, 30));
  });

  it("prints plan, files and responses with --debug, with escape sequences escaped", async () => {
    const evil = "\u001b]0;title\u0007\u009b2J\u202etext";
    const script = projectScript(parts, { sharedDeps: `# Plan ${evil}\n` });
    const { run } = await atHome({ answers: script });
    const { stderr, stdout } = await run(["parts", "--debug"]);
    expect(stderr).toContain("----- plan\n# Plan ?]0;title??2J?text\n-----\n");
    expect(stderr).toContain("----- files\nsrc/part-0.js - The file src/part-0.js\n");
    expect(stderr).toContain("----- src/part-1.js\nexport const part1 = 1;\n-----\n");
    for (const character of ["\u001b", "\u0007", "\u009b", "\u202e"]) {
      expect(evil).toContain(character);
      expect(stderr + stdout).not.toContain(character);
    }
  });

  it("writes nothing in a dry run and prints what it would write, optionally as a diff", async () => {
    const { run, cwd } = await atHome();
    mkdirSync(join(cwd, "generated/src"), { recursive: true });
    writeFileSync(join(cwd, "generated/src/part-0.js"), "export const part0 = 'mine';\n");
    const before = treeOf(cwd);
    const args = ["parts", "--dry-run", "--diff", "--on-conflict", "overwrite"];
    const { code, stdout, stderr } = await run(args);
    expect(code).toBe(0);
    expect(stdout).toContain("would be overwritten src/part-0.js");
    expect(stdout).toContain("would be created     src/part-1.js");
    expect(stdout).toContain(
      "--- a/src/part-0.js\n+++ b/src/part-0.js\n@@ -1,1 +1,1 @@\n-export const part0 = 'mine';\n+export const part0 = 0;\n",
    );
    expect(stderr).not.toContain("Go on");
    expect(treeOf(cwd)).toEqual(before);
    const json = await run(["parts", "--dry-run", "--json", "--out", "b"]);
    expect(JSON.parse(json.stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
      result: {
        contents: Object.fromEntries(parts),
        proposed: [{ action: "created" }, {}, {}, {}],
      },
    });
    expect(existsSync(join(cwd, "b"))).toBe(false);
  });

  it("merges changes by others by default", async () => {
    const { run, cwd } = await atHome();
    await run(["parts"]);
    const file = join(cwd, "generated/src/part-0.js");
    writeFileSync(file, `// mine\n${readFileSync(file, "utf8")}`);
    const { stdout } = await run(["parts again", "--diff"]);
    expect(stdout).toContain("kept        src/part-0.js");
    expect(readFileSync(file, "utf8")).toContain("// mine");
  });

  it("follows a plan that was printed and edited", async () => {
    const { run, cwd } = await atHome();
    const planned = await run(["plan", "parts"]);
    expect(planned).toMatchObject({ code: 0, stdout: expect.stringContaining("- src/part-0.js") });
    writeFileSync(join(cwd, "plan.md"), `${planned.stdout}\nWith a change of mine.\n`);
    expect((await run(["parts", "--plan", "plan.md"])).code).toBe(0);
    expect(readFileSync(join(cwd, "generated/shared_deps.md"), "utf8")).toContain("change of mine");
    expect(server?.requests.filter(({ task }) => task.startsWith("# Plan"))).toHaveLength(1);
  });

  it("lists files with and without a plan", async () => {
    const paths = { tool: "project_files", arguments: { files: [...parts.keys()] } };
    const { run, cwd } = await atHome({ answers: [paths, ...projectScript(parts)] });
    writeFileSync(join(cwd, "plan.md"), "a plan\n");
    const expected = `${[...parts.keys()].join("\n")}\n`;
    expect(await run(["files", "parts"])).toEqual({ code: 0, stdout: expected, stderr: "" });
    expect((await run(["files", "parts", "--plan", "plan.md"])).stdout).toBe(expected);
    const { stdout } = await run(["files", "parts", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ paths: [...parts.keys()], files: [{}, {}, {}] });
  });

  it("applies all edits to a program or none, and prints them", async () => {
    const answers = editScript([
      { path: "a.js", search: "1", replace: "2" },
      { path: "b.js", content: "export const b = 1;\n" },
    ]);
    const { run, cwd } = await atHome({ answers });
    mkdirSync(join(cwd, "app"));
    writeFileSync(join(cwd, "app/a.js"), "export const a = 1;\n");
    const dry = await run(["edit", "app", "make it two", "--dry-run", "--diff"]);
    expect(dry.stdout).toContain("-export const a = 1;\n+export const a = 2;\n");
    expect(programOf(join(cwd, "app"))).toEqual({ "a.js": "export const a = 1;\n" });
    const { code, stdout } = await run(["edit", "app", "make it two", "--diff"]);
    expect(code).toBe(0);
    expect(stdout).toContain("+++ b/b.js");
    expect(stdout).toContain("It is done.\nupdated     a.js");
    expect(programOf(join(cwd, "app"))).toEqual({
      "a.js": "export const a = 2;\n",
      "b.js": "export const b = 1;\n",
    });
  });

  it.each([
    ["main.rb", "puts(1\n", "not checked (.rb)"],
    ["main.go", "Sure! Below is main.go\n", "not checked (.go)"],
    ["notes.md", "# Notes\n", "not checked"],
  ])("does not say that %s has no errors, which nothing checked", async (path, text, said) => {
    const { run, cwd } = await atHome({ answers: projectScript(new Map([[path, text]])) });
    const { code, stdout, stderr } = await run(["x", "--verify"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`checked  ${said}\n`);
    expect(stdout).toContain(`2 files, ${said}, not run, `);
    expect(stdout + stderr).not.toContain("no errors");
    const verified = await run(["verify", join(cwd, "generated"), "--run"], { env: {} });
    expect(verified).toEqual({ code: 0, stdout: "", stderr: `${said}\n` });
    const edits = [{ path, content: `${text}# More\n` }];
    await server?.close();
    const other = await atHome({ answers: editScript(edits) });
    writeFileSync(join(other.cwd, "a.js"), "export const a = 1;\n");
    const edited = await other.run(["edit", ".", "more"]);
    expect(edited.stdout).toContain(`1 file, ${said}, not run, `);
  });

  it("says which files have no errors and which were not checked, also in JSON", async () => {
    const files = new Map([
      ["index.html", "<!doctype html><title>A</title>\n"],
      ["server.py", "print(1)\n"],
      ["Makefile", "all:\n"],
    ]);
    const { run } = await atHome({ answers: projectScript(files) });
    const { stdout } = await run(["x"]);
    expect(stdout).toContain(
      "4 files, no errors in 1 file, 2 files not checked (.py, Makefile), not run, ",
    );
    const lines = (await run(["x", "--json"])).stdout.trim().split("\n");
    const said = { checked: 1, unchecked: ["server.py", "Makefile"] };
    const events = lines.map((line) => JSON.parse(line) as { readonly type: string });
    expect(events.find(({ type }) => type === "checked")).toMatchObject(said);
    expect(events.at(-1)).toMatchObject({ type: "finished", result: { ok: true, ...said } });
    const verified = (await run(["verify", "generated", "--json"])).stdout.trim().split("\n");
    expect(verified.map((line) => JSON.parse(line) as unknown)).toEqual([
      { type: "finished", errors: 0, checked: 1, unchecked: ["Makefile", "server.py"] },
    ]);
  });

  it("counts no error that was there before an edit, and prints that there was one", async () => {
    const { run, cwd } = await atHome({
      answers: editScript([{ path: "a.js", search: "1", replace: "2" }]),
    });
    mkdirSync(join(cwd, "app"));
    writeFileSync(join(cwd, "app/a.js"), "export const a = 1;\n");
    writeFileSync(join(cwd, "app/b.js"), "import './missing.js';\n");
    const { code, stdout, stderr } = await run(["edit", "app", "make it two"]);
    expect(code).toBe(0);
    expect(stderr).toContain("checked  no new errors (1 before)\n");
    expect(stdout).toContain("1 file, no new errors (1 before), not run, ");
    expect(stdout).not.toContain("missing.js");
  });

  it("prints how to resume an interrupted edit, and resumes it", async () => {
    const change = editScript([{ path: "a.js", search: "1", replace: "2" }]);
    const { run, cwd } = await atHome({
      answers: [{ fault: { kind: "refusal" }, times: 1 }, ...change],
    });
    mkdirSync(join(cwd, "app"));
    writeFileSync(join(cwd, "app/a.js"), "export const a = 1;\n");
    const { code, stderr } = await run(["edit", "app", "make it two", "--diff"]);
    expect(code).toBe(1);
    const [, runId = ""] = /resume (\S+) --out app --diff\n$/.exec(stderr) ?? [];
    expect(programOf(join(cwd, "app"))).toEqual({ "a.js": "export const a = 1;\n" });
    expect((await run(["resume", runId, "--out", "app"])).code).toBe(0);
    expect(programOf(join(cwd, "app"))).toEqual({ "a.js": "export const a = 2;\n" });
  });

  it("verifies a program without a model and exits with 3 if it has errors", async () => {
    const { run, cwd } = await atHome();
    writeFileSync(join(cwd, "a.js"), "import { b } from './b.js';\nb();\n");
    writeFileSync(join(cwd, "b.js"), "export const c = 1;\n");
    const wrong = await run(["verify", "."], { env: {} });
    expect(wrong).toMatchObject({ code: 3, stderr: "1 error\n" });
    expect(wrong.stdout).toMatch(/^error a\.js:1 /);
    writeFileSync(join(cwd, "b.js"), "export function b() {}\n");
    writeFileSync(join(cwd, "package.json"), '{"type":"module"}\n');
    expect(await run(["verify", ".", "--run"])).toEqual({
      code: 0,
      stdout: "",
      stderr: "no errors\n",
    });
    const checked = await run([
      "verify",
      ".",
      "--check",
      "true",
      "--check",
      "echo b.js:1 bad; false",
    ]);
    expect(checked).toMatchObject({ code: 3, stderr: "1 error\n" });
    expect(checked.stdout).toContain(
      "error b.js:1 echo b.js:1 bad; false ended with 1 | b.js:1 bad\n",
    );
    expect(await run(["verify", ".", "--check", " "])).toMatchObject({ code: 2, stdout: "" });
  });

  it("reports a folder without runs", async () => {
    const { run } = await atHome();
    const { code, stdout, stderr } = await run(["runs", "--out", "typo"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/^No runs in .*typo\n$/);
  });

  it("lists finished and unfinished runs", async () => {
    const { run } = await atHome();
    await run(["the first"]);
    await run(["the second", "--max-files", "2"]);
    const { stdout } = await run(["runs"]);
    expect(stdout).toMatch(/ {2}0\/3 files {2}.* {2}the second\n|not planned/);
    expect(stdout).toMatch(/ {2}finished {2}.* {2}the first\n$/);
    const lines = (await run(["runs", "--json"])).stdout.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { prompt: "the second", finished: false },
      { prompt: "the first", finished: true, total: 3, done: 3 },
    ]);
  });
});
