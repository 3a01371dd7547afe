// Has the model that the environment names do ten small tasks, or 20 of a back end, and prints what
// became of each: docs/models.md. npm run agent:live -- [task...] [--back-end] [--max-tokens
// 100000] [--json results.json] [--price 3,15] [--sandbox process] Exit codes: 0 all tasks are ok,
// 1 some are not, 2 wrong arguments, 5 no model that can be asked.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
  AgentError,
  AgentUsageError,
  createProvider,
  createSandbox,
  settingsFromEnvironment,
  type ModelPrice,
} from "@fetchwork/agent";
import { asLiveTasks } from "./back-end/as-live-tasks.ts";
import { backEndTasks } from "./back-end/back-end-tasks.ts";
import { installPackages } from "./back-end/start-project.ts";
import { liveTasks, type LiveTask } from "./live-tasks.ts";
import { runLiveTask, type LiveOptions, type LiveRow } from "./run-live-task.ts";

const titles = ["task", "ok", "agent", "calls", "tokens", "cost", "seconds", "why"] as const;
const widths = [17, 4, 6, 6, 9, 9, 8, 0];

let given: ReturnType<typeof readArguments>;
try {
  given = readArguments(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  console.error(error.message);
  process.exit(2);
}
try {
  const { names, isBackEnd, json, ...options } = given;
  const provider = createProvider(settingsFromEnvironment(process.env));
  await createSandbox({ level: options.level });
  const isOk = isBackEnd
    ? await withPackages(async (packages) => {
        const tasks = backEndTasks.filter(({ name }) => names.includes(name));
        return runAll({ provider, ...options }, await asLiveTasks(tasks, packages), json);
      })
    : await runAll(
        { provider, ...options },
        liveTasks.filter(({ name }) => names.includes(name)),
        json,
      );
  process.exitCode = isOk ? 0 : 1;
} catch (error) {
  if (!(error instanceof AgentError || error instanceof AgentUsageError)) throw error;
  console.error(error.message);
  process.exitCode = error instanceof AgentUsageError ? 2 : exitCodeOf(error.code);
}

/** Makes a project once, for its packages. */
async function withPackages<T>(use: (packages: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "agent-live-project-"));
  try {
    return await use(await installPackages(join(folder, "project")));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runAll(
  options: LiveOptions,
  tasks: readonly LiveTask[],
  json: string | undefined,
): Promise<boolean> {
  const rows: LiveRow[] = [];
  console.log(line(titles));
  for (const task of tasks) {
    const row = await runLiveTask(task, options);
    rows.push(row);
    console.log(line(cellsOf(row)));
    // After each task, so that nothing is lost where the next one is interrupted.
    const model = options.provider.defaultModel ?? null;
    const record = { model, provider: options.provider.id, maxTokens: options.maxTokens, rows };
    if (json !== undefined) writeFileSync(json, `${JSON.stringify(record, null, 2)}\n`);
    if (row.code !== undefined && exitCodeOf(row.code) === 5) {
      throw new AgentError("ERR_AGENT_AUTH", row.why);
    }
  }
  const done = rows.filter(({ ok }) => ok).length;
  console.log(`${done} of ${rows.length} tasks are ok`);
  return done === rows.length;
}

function cellsOf(row: LiveRow): readonly string[] {
  const { task, ok, agentOk, calls, inputTokens, outputTokens, cost, seconds, why } = row;
  return [
    task,
    ok ? "yes" : "no",
    agentOk ? "yes" : "no",
    String(calls),
    String(inputTokens + outputTokens),
    cost === null ? "unknown" : `$${cost.toFixed(4)}`,
    seconds.toFixed(1),
    why.replaceAll(/\s+/g, " ").slice(0, 160),
  ];
}

function line(cells: readonly string[]): string {
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join(" ")
    .trimEnd();
}

/** No other task can be done either where the model cannot be asked. */
function exitCodeOf(code: string): number {
  return code === "ERR_AGENT_NO_PROVIDER" || code === "ERR_AGENT_AUTH" ? 5 : 1;
}

function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      "back-end": { type: "boolean", default: false },
      "max-tokens": { type: "string", default: "100000" },
      json: { type: "string" },
      price: { type: "string" },
      sandbox: { type: "string", default: "sealed" },
    },
  });
  const { json, sandbox: level, "max-tokens": most } = values;
  const maxTokens = Number(most);
  if (!Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw new TypeError(`invalid --max-tokens ${most}: expected a whole number above 0`);
  }
  if (level !== "sealed" && level !== "process") {
    throw new TypeError(`invalid --sandbox ${level}: expected sealed or process`);
  }
  const isBackEnd = values["back-end"];
  const known = (isBackEnd ? backEndTasks : liveTasks).map(({ name }) => name);
  const unknown = positionals.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new TypeError(`unknown task ${unknown}: expected one of ${known.join(", ")}`);
  }
  const names = positionals.length === 0 ? known : positionals;
  return { names, isBackEnd, json, maxTokens, price: priceOf(values.price), level } as const;
}

function priceOf(text: string | undefined): ModelPrice | undefined {
  if (text === undefined) return undefined;
  const [, input, output] = /^(\d+(?:\.\d+)?),(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (input === undefined) {
    throw new TypeError(
      `invalid --price ${text}: expected US dollars per million tokens of questions and answers, such as 3,15`,
    );
  }
  return { input: Number(input), output: Number(output) };
}
