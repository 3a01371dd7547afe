import { isObject } from "@fetchwork/kit";
import { AgentError } from "../errors.ts";
import { readContract, type FileSpec } from "../project/project-plan.ts";
import { inWritingOrder } from "../run/generate-files.ts";
import { sharedDepsPath } from "../run/plan-project.ts";
import type { JsonObject, NewStep, RunningStep, StepResult } from "./task-agent.ts";
import type { VerifyLevel } from "./task-options.ts";

/** Input of the task, with that of the client for this step. */
export function promptOf({ task, input }: RunningStep): string {
  return input === null || input.trim() === "" ? task.input : `${task.input}\n\n${input}`;
}

/** Request of an edit. A client may reword the request of a failed edit. */
export function requestOf({ attempt, input, data }: RunningStep): string {
  const isReworded = attempt > 1 && input !== null && input.trim() !== "";
  return isReworded ? input : String(data["request"]);
}

/** The plan of the task, which people may have changed since. */
export async function sharedDepsOf(step: RunningStep): Promise<string> {
  const text = (await step.read(sharedDepsPath)) ?? "";
  if (text.trim() !== "") return text;
  throw new AgentError("ERR_AGENT_CONFLICT", `${sharedDepsPath} is empty or gone`);
}

/** A step for each file, which waits for the files that it uses from earlier levels. */
export function stepsOf(files: readonly FileSpec[], verify: VerifyLevel): readonly NewStep[] {
  const ordered = inWritingOrder(files);
  const steps = ordered.map(({ file, after }, index): NewStep => ({
    name: `Generate code for ${file.path}`,
    key: file.path,
    after,
    data: { kind: "file", file },
    last: verify === "none" && index === ordered.length - 1,
  }));
  if (verify === "none") return steps;
  const paths = ordered.map(({ file }) => file.path);
  return [...steps, verifyStepOf(files, paths)];
}

/** The versions of files that repairs have to be better than. */
export async function bestOf(
  step: RunningStep,
  paths: readonly string[],
): Promise<readonly { readonly path: string; readonly hash: string }[]> {
  const files = await step.files();
  return files.filter(({ path }) => paths.includes(path)).map(({ path, hash }) => ({ path, hash }));
}

/** Restores files that repairs did not improve, with their findings. Later uploads stay. */
export async function asItWas(step: RunningStep): Promise<StepResult> {
  const { best, output, additionalOutput } = step.data;
  const files = await step.files();
  const theirs = new Set(files.filter((file) => !file.agentCreated).map(({ path }) => path));
  const versions: readonly unknown[] = Array.isArray(best) ? best : [];
  const ours = versions.filter(isVersion).filter(({ path }) => !theirs.has(path));
  const restored = await Promise.all(
    ours.map(async ({ path, hash }) => {
      const content = await step.read(path, { hash });
      return content === undefined ? [] : [{ path, content }];
    }),
  );
  return {
    output: String(output),
    additionalOutput: isObject(additionalOutput) ? additionalOutput : {},
    files: restored.flat(),
  };
}

function isVersion(value: unknown): value is { readonly path: string; readonly hash: string } {
  return isObject(value) && typeof value["path"] === "string" && typeof value["hash"] === "string";
}

/** The check of all files, when those before it are done. */
export function verifyStepOf(files: readonly FileSpec[], after: readonly string[]): NewStep {
  return { name: "verify", key: "\0verify", after, data: { kind: "verify", files }, last: true };
}

/** The files of the task that are texts, by path. */
export async function sourcesOf(step: RunningStep): Promise<Map<string, string>> {
  const sources = new Map<string, string>();
  for (const { path } of await step.files()) {
    const text = await step.read(path);
    // Pictures and the like are nothing for a check of texts.
    if (text !== undefined && !text.includes("\0")) sources.set(path, text);
  }
  return sources;
}

/** The contract that a step was given. */
export function filesOf(data: JsonObject): readonly FileSpec[] {
  return readContract(data["files"])?.files ?? [];
}

/** The file that a step is to write. */
export function specOf(file: unknown): FileSpec {
  const [spec] = readContract([file])?.files ?? [];
  if (spec === undefined) throw new Error("a step has no file");
  return spec;
}

/** The repair that a step is to make. */
export function taskOf({ path, problems, related }: JsonObject): {
  readonly path: string;
  readonly problems: readonly string[];
  readonly related: readonly string[];
} {
  return { path: String(path), problems: texts(problems), related: texts(related) };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
