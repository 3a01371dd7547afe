import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { liveTasks, type LiveTask } from "../../../scripts/agent-live/live-tasks.ts";
import { runLiveTask, type LiveRow } from "../../../scripts/agent-live/run-live-task.ts";
import { createSandbox } from "../src/verify/sandbox.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import { editScript } from "./edit-script.ts";
import { liveSolutions } from "./live-solutions.ts";
import { startModelServer, type ScriptedAnswer } from "./model-server.ts";
import { projectScript } from "./project-script.ts";

const script = join(import.meta.dirname, "../../../scripts/agent-live/index.ts");
const level = await createSandbox().then(
  () => "sealed" as const,
  () => (process.env["CI"] === "true" ? ("sealed" as const) : ("process" as const)),
);

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function runScript(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const command = ["--conditions=@fetchwork/source", script, "--sandbox", level, ...args];
  // Nothing of this environment: it may have keys.
  const options = {
    env: {
      PATH: process.env["PATH"] ?? "",
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
      ...env,
    },
  };
  return new Promise((resolve) => {
    execFile(process.execPath, command, options, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });
}

async function serverOf(answers: readonly ScriptedAnswer[]): Promise<string> {
  const server = await startModelServer({ answers });
  onTestFinished(() => server.close());
  return server.baseUrl;
}

/** What a model answers that does a task as it is written here. */
function answersTo(
  { files }: LiveTask,
  made: ReadonlyMap<string, string>,
): readonly ScriptedAnswer[] {
  if (files === undefined) return projectScript(made);
  return editScript([...made].map(([path, content]) => ({ path, content })));
}

it("agent:live ends with 5 and says what is missing where no model is configured", async () => {
  const { code, stdout, stderr } = await runScript([], {});
  expect([code, stdout]).toEqual([5, ""]);
  expect(stderr).toContain("no model is configured: set FETCHWORK_BASE_URL");
});

it.each([
  [["--max-tokens", "many"], "invalid --max-tokens many"],
  [["--price", "3"], "invalid --price 3"],
  [["unknown"], "unknown task unknown: expected one of word-count"],
  [["--wrong"], "Unknown option '--wrong'"],
])("agent:live ends with 2 for the arguments %j", async (args, message) => {
  const { code, stderr } = await runScript(args, {});
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

it("agent:live prints a row for a good answer and one for a bad answer, and writes both down", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agent-live-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const json = join(folder, "results.json");
  const good = Object.entries(liveSolutions["lru-cache"] ?? {});
  const baseUrl = await serverOf([
    ...editScript(
      [{ path: "src/statistics.mjs", search: "numbers.sort()", replace: "numbers.toSorted()" }],
      ["statistics.test.mjs"],
    ),
    ...projectScript(new Map(good)),
  ]);
  const args = ["lru-cache", "red-median", "--json", json, "--price", "1,2"];
  const env = {
    FETCHWORK_BASE_URL: baseUrl,
    FETCHWORK_MODEL: "scripted",
    FETCHWORK_API_KEY: "secret-1",
  };
  const { code, stdout, stderr } = await runScript(args, env);
  expect([code, stderr]).toEqual([1, ""]);
  const [head, first, second, last] = stdout.trim().split("\n");
  expect(head).toMatch(/^task +ok +agent +calls +tokens +cost +seconds +why$/);
  expect(first).toMatch(/^lru-cache +yes +yes +3 +\d+ +\$0\.\d{4} +\d+\.\d$/);
  expect(second).toMatch(/^red-median +no .*the hidden check failed: AssertionError/);
  expect(last).toBe("1 of 2 tasks are ok");
  const text = readFileSync(json, "utf8");
  expect(text).not.toContain("secret-1");
  const { model, maxTokens, rows } = JSON.parse(text) as {
    readonly model: string;
    readonly maxTokens: number;
    readonly rows: readonly LiveRow[];
  };
  expect([model, maxTokens]).toEqual(["scripted", 100_000]);
  expect(rows).toMatchObject([
    { task: "lru-cache", kind: "new", ok: true, agentOk: true, calls: 3, why: "" },
    { task: "red-median", kind: "edit", ok: false },
  ]);
});

it("agent:live ends with 5 after the first task where the server refuses the key", async () => {
  const baseUrl = await serverOf([{ fault: { kind: "status", status: 401 } }]);
  const { code, stdout } = await runScript([], { FETCHWORK_BASE_URL: baseUrl });
  expect(code).toBe(5);
  expect(stdout.trim().split("\n")).toHaveLength(2);
});

it("each task has a solution here", () => {
  expect(Object.keys(liveSolutions)).toEqual(liveTasks.map(({ name }) => name));
});

it.each(liveTasks)("a good answer to $name passes", async (task) => {
  const made = Object.entries(liveSolutions[task.name] ?? {});
  const baseUrl = await serverOf(answersTo(task, new Map(made)));
  const provider = openAICompatible({ baseUrl, model: "scripted" });
  const row = await runLiveTask(task, { provider, maxTokens: 200_000, level });
  expect(row).toMatchObject({ ok: true, agentOk: true, why: "", cost: null });
});

it.each(liveTasks.filter((_, index) => index % 4 === 1))(
  "a bad answer to $name fails",
  async (task) => {
    const solution = Object.entries(liveSolutions[task.name] ?? {});
    const made = solution.map(([path]) => [path, "export {};\n"] as const);
    const baseUrl = await serverOf(answersTo(task, new Map(made)));
    const provider = openAICompatible({ baseUrl, model: "scripted" });
    const row = await runLiveTask(task, { provider, maxTokens: 200_000, level });
    expect(row.ok).toBe(false);
  },
);
