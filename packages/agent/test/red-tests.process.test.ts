import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { it } from "vitest";
import type { ModelPart, ModelProvider, ModelRequest } from "../src/models/model-provider.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { findTool } from "../src/verify/find-tool.ts";
import { nodeTest } from "../src/verify/node-verifiers.ts";
import { pythonCheck } from "../src/verify/language-verifiers.ts";
import { createSandbox, type SandboxLevel } from "../src/verify/sandbox.ts";
import { redTasks, type RedTask } from "./red-tasks.ts";

const seed = 41;
const isCi = process.env["CI"] === "true";
const python = findTool("python3");
const canSeal = await createSandbox().then(
  () => true,
  () => false,
);
const verifiers = [nodeTest(), ...pythonCheck()];

/**
 * `run`: the modules are there, and the model runs the tests by its tool. `check`: the model writes
 * the modules, and is told which tests fail by the check of the edit.
 */
type Way = "run" | "check";

/** All 50 take minutes: `RED_TASKS=all` runs them, and every fifth is run without it. */
const isAll = process.env["RED_TASKS"] === "all";

const everyTask = redTasks(seed).map((task, index) => {
  const isPython = task.language === "python";
  const isSealed = index % 10 < (isPython ? 1 : 2) && (canSeal || isCi);
  const level: SandboxLevel = isSealed ? "sealed" : "process";
  // The check is slower, above all by pytest; a sealed command sees no Python but that of the
  // system.
  const way: Way = index % (isPython ? 8 : 4) === 0 ? "check" : "run";
  const isSkipped = isPython && python === undefined && !isCi;
  return { ...task, level, way, isSkipped };
});
const tasks = everyTask.filter((_, index) => isAll || index % 5 === 0);

const node = `'${process.execPath}' --test --test-isolation=none --test-reporter=tap`;
const testCommands = {
  javascript: node,
  typescript: `${node} test/*.ts`,
  python: `'${python?.file ?? "python3"}' -B -m unittest`,
} as const;

/** A model that repairs one module at a time: the first that it is told of. */
class OneAtATime implements ModelProvider {
  readonly id = "scripted";
  readonly defaultModel = "scripted";
  /** Names of tests in the order in which their modules were repaired. */
  readonly repaired: string[] = [];
  /** The tests that failed when it was told of failures for the first time. */
  firstFailures: readonly string[] | undefined;
  readonly #task: RedTask;
  readonly #way: Way;
  #calls = 0;

  constructor(task: RedTask, way: Way) {
    this.#task = task;
    this.#way = way;
  }

  *generate({ turns = [] }: ModelRequest): Generator<ModelPart> {
    const last = turns.at(-1);
    const told = JSON.stringify(last?.content).replaceAll('\\"', '"').replaceAll('\\"', '"');
    if (turns.length === 1) return yield* this.#call(this.#first());
    const isReport = last?.role === "user" || told.includes("It ended with");
    const failed = isReport ? failuresIn(told) : [];
    this.firstFailures ??= isReport ? failed : undefined;
    const [name] = failed;
    if (name === undefined) {
      yield { type: "text", text: "It is done." };
      return yield { type: "finish", reason: "stop" };
    }
    this.repaired.push(name);
    const { path = "", text = "" } = this.#task.wrong.get(name) ?? {};
    const right = this.#task.right.get(path) ?? "";
    const change =
      this.repaired.length % 2 === 0
        ? { name: "write", input: { path, content: right } }
        : editOf(path, text, right);
    return yield* this.#call([{ name: "read", input: { path } }, change, ...this.#run()]);
  }

  #first(): readonly Call[] {
    if (this.#way === "run") return this.#run();
    return [...draftOf(this.#task)].map(([path, content]) => ({
      name: "write",
      input: { path, content },
    }));
  }

  #run(): readonly Call[] {
    const command = testCommands[this.#task.language];
    return this.#way === "run" ? [{ name: "run", input: { command } }] : [];
  }

  *#call(calls: readonly Call[]): Generator<ModelPart> {
    for (const { name, input } of calls) {
      this.#calls += 1;
      yield { type: "tool", id: `call-${this.#calls}`, name, delta: JSON.stringify(input) };
    }
    yield { type: "finish", reason: "tool" };
  }
}

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, string>>;
}

/** The one line that is wrong. */
function editOf(path: string, wrong: string, right: string): Call {
  const lines = right.split("\n");
  const at = wrong.split("\n").findIndex((line, index) => line !== lines[index]);
  return {
    name: "edit",
    input: { path, search: wrong.split("\n")[at] ?? "", replace: lines[at] ?? "" },
  };
}

function failuresIn(told: string): readonly string[] {
  const names = told.matchAll(/(?:not ok \d+ - |FAIL: test_|test "(?:Test\.test_)?)(\w+)/g);
  return [...new Set(Array.from(names, ([, name = ""]) => name))];
}

/** The modules as they are at first, some of them wrong. */
function draftOf({ right, wrong }: RedTask): ReadonlyMap<string, string> {
  return new Map([...right, ...[...wrong.values()].map(({ path, text }) => [path, text] as const)]);
}

function writeAll(folder: string, files: ReadonlyMap<string, string>): void {
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

function treeOf(folder: string): ReadonlyMap<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter(
    (path) => !path.startsWith(".fetchwork") && statSync(join(folder, path)).isFile(),
  );
  return new Map(paths.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

it.concurrent.for(tasks)(
  "a scripted model repairs $name, by $way, $level",
  { timeout: 240_000 },
  async ({ level, way, isSkipped, ...task }, { expect, onTestFinished, skip }) => {
    skip(isSkipped, "python3 is not installed");
    const out = mkdtempSync(join(tmpdir(), "red-tests-"));
    onTestFinished(() => rmSync(out, { recursive: true, force: true }));
    writeAll(out, way === "run" ? new Map([...task.fixed, ...draftOf(task)]) : task.fixed);
    const provider = new OneAtATime(task, way);
    const agent = createAgent({ provider, verifiers, sandbox: { level }, repair: 12 });
    const request =
      way === "run" ? "Repair what the tests find" : "Write the modules that the tests are for";
    const result = await agent.edit({ request, out }).result;
    const wrong = [...task.wrong.keys()].toSorted();
    expect(provider.firstFailures?.toSorted()).toEqual(wrong);
    expect(provider.repaired.toSorted()).toEqual(wrong);
    expect(result.diagnostics).toEqual([]);
    expect(result).toMatchObject({
      ok: true,
      knownErrors: 0,
      repairs: way === "run" ? 0 : wrong.length,
      sandbox: level,
    });
    expect(treeOf(out)).toEqual(new Map([...task.fixed, ...task.right]));
  },
);
