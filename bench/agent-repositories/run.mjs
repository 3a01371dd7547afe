// Changes one line of repositories that nobody prepared, by a scripted model, and measures what
// that costs.
//
//   npm run agent-repositories -- [rounds] [name of a repository]
//
// Runs the command from its sources. Each repository is fetched by git at a fixed commit, from its
// address or, where AGENT_REPOSITORIES names a folder, from the repository `<folder>/<last part of
// its address>` there; nothing of them stays.
import { execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { endWithUs } from "../harness/children.ts";
import { Part } from "../harness/part.ts";
import { repositories } from "./repositories.mjs";

const condition = "--conditions=@fetchwork/source";
if (!process.execArgv.includes(condition)) {
  const again = fork(process.argv[1], process.argv.slice(2), { execArgv: [condition] });
  endWithUs(again, { mayFail: true });
  const [code] = await once(again, "exit");
  process.exit(code ?? 1);
}
process.on("disconnect", () => process.exit(1));

const { startModelServer } = await import("../../packages/agent/test/model-server.ts");
const root = path.resolve(import.meta.dirname, "../..");
const main = path.join(root, "packages/fetchwork/src/main.ts");
const part = new Part("agent-repositories");
const [only] = part.settings.others;
const rounds = part.settings.rounds ?? (part.settings.isQuick ? 1 : 3);
const folder = mkdtempSync(path.join(os.tmpdir(), "bench-repositories-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const execute = promisify(execFile);

const measured = new Map();
for (const repository of repositories) {
  const { name, commit, url } = repository;
  if (only !== undefined && only !== name) continue;
  await part.attempt(name, async () => {
    const program = await fetched(repository);
    if (url !== undefined) part.usesVersion(name, commit.slice(0, 10));
    const runs = [];
    for (let round = 0; round < rounds; round += 1) {
      runs.push(await changeLine(repository, program));
      await git(program, "reset", "--quiet", "--hard");
      rmSync(path.join(program, ".fetchwork"), { recursive: true, force: true });
    }
    rmSync(program, { recursive: true, force: true });
    measured.set(name, runs);
  });
}
const own = [...measured.keys()];
const group = "One line changed";
const add = (work, unit, samplesOf) => {
  const samples = [...measured].map(([name, runs]) => [name, runs.map(samplesOf)]);
  part.add({ group, work, unit, own, isCount: true }, new Map(samples));
};
add("CPU time of the command", "CPU s", ({ cpu, seconds }) => ({
  value: cpu,
  more: { "s in all": seconds },
}));
add("tokens of all questions and answers", "tokens", ({ tokens, questions, files }) => ({
  value: tokens,
  more: { questions, files },
}));
add("the same with what tools and calls take", "tokens with tools", ({ withTools }) => ({
  value: withTools,
}));
add("exit code", "code", (run) => ({
  value: run.code,
  more: {
    "lines changed": run.lines,
    "files checked": run.checked,
    "faults before": run.known,
  },
}));
add("faults that the change makes", "new faults", ({ faults }) => ({ value: faults }));
part.close();

/** The files of a repository in a folder, as the only commit. */
async function fetched({ name, url, commit }) {
  const program = path.join(folder, name.replaceAll(/\W/g, "-"));
  mkdirSync(program);
  const local = process.env.AGENT_REPOSITORIES;
  const near = local && url && path.join(local, url.slice(url.lastIndexOf("/") + 1));
  const source = url === undefined ? root : near || url;
  const wanted = url === undefined ? (await git(root, "rev-parse", commit)).trim() : commit;
  await git(program, "init", "--quiet");
  await git(program, "fetch", "--quiet", "--depth", "1", source, wanted);
  await git(program, "checkout", "--quiet", "FETCH_HEAD");
  return program;
}

async function git(cwd, ...args) {
  const { stdout } = await execute("git", args, { cwd, maxBuffer: 64 << 20 });
  return stdout;
}

/** What one run took: the model looks for the line, reads around it, changes it, and says so. */
async function changeLine({ request, path: file, before, after }, program) {
  const lines = readFileSync(path.join(program, file), "utf8").split("\n");
  const at = lines.findIndex((line) => line.includes(before));
  const search = lines[at];
  if (search === undefined) throw new Error(`${file} does not contain ${before}`);
  const pattern = before.replaceAll(/[^\w ]/g, ".");
  const from = Math.max(1, at - 20);
  const steps = [
    { name: "grep", arguments: { pattern } },
    { name: "read", arguments: { path: file, from, lines: 40 } },
    { name: "edit", arguments: { path: file, search, replace: search.replace(before, after) } },
  ];
  const server = await startModelServer({
    answers: [
      ...steps.map((call) => ({ tool: "edit", calls: [call], times: 1 })),
      { tool: "edit", last: "tool", text: "The line is changed." },
    ],
  });
  try {
    const ended = await runCommand(["agent", "edit", program, request, "--json"], server.baseUrl);
    const events = ended.stdout.trim().split("\n").map(readEvent);
    const { result } = events.find(({ type }) => type === "finished") ?? {};
    if (result === undefined) throw new Error(ended.stderr.slice(0, 2_000));
    const { usage, diagnostics, knownErrors, checked } = result;
    const stat = await git(program, "diff", "--numstat", "--", ".", ":!.fetchwork");
    const changes = stat.trim().split("\n").filter(Boolean);
    const files = (await git(program, "ls-files")).split("\n").length - 1;
    return {
      ...ended,
      files,
      lines: changes.map((line) => Number(line.split("\t")[0])).reduce((a, b) => a + b, 0),
      tokens: usage.inputTokens + usage.outputTokens,
      questions: server.requests.length,
      withTools: server.requests.reduce((sum, { characters }) => sum + characters, 0) / 4,
      known: knownErrors,
      faults: diagnostics.filter(({ severity }) => severity === "error").length,
      checked,
    };
  } finally {
    await server.close();
  }
}

function readEvent(line) {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

/** Runs the command, and counts the CPU time of its process and of all that it started. */
async function runCommand(args, baseUrl) {
  const [errors, home] = [path.join(folder, "stderr.txt"), path.join(folder, "home")];
  mkdirSync(home, { recursive: true });
  writeFileSync(errors, "");
  const script = 'TIMEFORMAT="%U %S"; time "$@" 2>"$ERRORS"';
  const command = ["-c", script, "bash", process.execPath, condition, main, ...args];
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ERRORS: errors,
    LC_ALL: "C",
    FETCHWORK_BASE_URL: baseUrl,
    FETCHWORK_MODEL: "scripted",
  };
  const startedAt = performance.now();
  const stdio = ["ignore", "pipe", "pipe"];
  const child = endWithUs(spawn("bash", command, { cwd: home, env, stdio }), { mayFail: true });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  }
  const [code] = await once(child, "close");
  const seconds = (performance.now() - startedAt) / 1_000;
  const [user, system] = output.stderr.trim().split(/\s+/).map(Number);
  const { stdout } = output;
  return { code, seconds, cpu: user + system, stdout, stderr: readFileSync(errors, "utf8") };
}
