import { AgentError } from "../errors.ts";
import type { FileSpec } from "../project/project-plan.ts";
import { inWritingOrder } from "../run/generate-files.ts";
import type { RepairTask } from "../run/repair-files.ts";
import { sharedDepsPath } from "../run/plan-project.ts";
import type { NewStep, RunningStep, StepResult } from "./task-agent.ts";
import type { VerifyLevel } from "./task-options.ts";

/** A version of a file. */
interface Version {
  readonly path: string;
  readonly hash: string;
}

/** A check that found errors, and the files as it saw them. */
interface EarlierCheck {
  readonly round: number;
  readonly errors: number;
  readonly best: readonly Version[];
  readonly result: StepResult;
}

/** Data of a step, as it is stored with it. */
export type CodeStepData =
  | { readonly kind: "plan" }
  | { readonly kind: "list" }
  | { readonly kind: "file"; readonly file: FileSpec }
  | ({ readonly kind: "repair" } & RepairTask)
  | {
      readonly kind: "verify";
      readonly files: readonly FileSpec[];
      /** The best check before. Default: there is none. */
      readonly earlier?: EarlierCheck | undefined;
    }
  | { readonly kind: "edit"; readonly request: string };

/** Input of the task, with that of the client for this step. */
export function promptOf({ task, input }: RunningStep): string {
  return input === null || input.trim() === "" ? task.input : `${task.input}\n\n${input}`;
}

/** Request of an edit. A client may reword the request of a failed edit. */
export function requestOf({ attempt, input }: RunningStep, request: string): string {
  const isReworded = attempt > 1 && input !== null && input.trim() !== "";
  return isReworded ? input : request;
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
  const steps = ordered.map(({ file, after }, index) => ({
    name: `Generate code for ${file.path}`,
    key: file.path,
    after,
    data: { kind: "file", file } satisfies CodeStepData,
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
): Promise<readonly Version[]> {
  const files = await step.files();
  return files.filter(({ path }) => paths.includes(path)).map(({ path, hash }) => ({ path, hash }));
}

/** Restores files that repairs did not improve, with their findings. Later uploads stay. */
export async function asItWas(
  step: RunningStep,
  { best, result }: EarlierCheck,
): Promise<StepResult> {
  const files = await step.files();
  const theirs = new Set(files.filter((file) => !file.agentCreated).map(({ path }) => path));
  const ours = best.filter(({ path }) => !theirs.has(path));
  const restored = await Promise.all(
    ours.map(async ({ path, hash }) => {
      const content = await step.read(path, { hash });
      return content === undefined ? [] : [{ path, content }];
    }),
  );
  return { ...result, files: restored.flat() };
}

/** The check of all files, when those before it are done. */
export function verifyStepOf(
  files: readonly FileSpec[],
  after: readonly string[],
  earlier?: EarlierCheck,
): NewStep {
  const data = { kind: "verify", files, earlier } satisfies CodeStepData;
  return { name: "verify", key: "\0verify", after, data, last: true };
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
