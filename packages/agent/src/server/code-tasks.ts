import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AskOptions } from "../calls/ask-model.ts";
import { withProvider } from "../calls/call-options.ts";
import { plan } from "../calls/plan.ts";
import { repairSource } from "../calls/repair-source.ts";
import { writePlannedFile } from "../calls/write-source.ts";
import { describeDiagnostic, fingerprints } from "../check/diagnostic.ts";
import { checkFileBytes, optionError } from "../errors.ts";
import type { AgentOptions, FolderOption } from "../run/agent-options.ts";
import type { FileSpec } from "../project/project-plan.ts";
import { contextOf } from "../run/context-files.ts";
import { settingsOf } from "../run/create-agent.ts";
import { runEdit } from "../run/edit-run.ts";
import { listProjectFiles, sharedDepsPath } from "../run/plan-project.ts";
import { withEnd } from "../run/project-run.ts";
import { repairTasks, type RepairTask } from "../run/repair-files.ts";
import { emptyState } from "../run/run-state.ts";
import { stepOptions, type StepParts } from "../run/step-options.ts";
import { coverageOf, type Coverage } from "../verify/coverage.ts";
import { createSandbox } from "../verify/sandbox.ts";
import { verifyFiles } from "../verify/verify-files.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import {
  asItWas,
  bestOf,
  promptOf,
  requestOf,
  sharedDepsOf,
  sourcesOf,
  stepsOf,
  verifyStepOf,
  type CodeStepData,
} from "./code-steps.ts";
import { readTaskOptions, type TaskOptions, type VerifyLevel } from "./task-options.ts";
import {
  defineAgent,
  type AgentTask,
  type JsonObject,
  type RunningStep,
  type StepResult,
  type TaskAgent,
} from "./task-agent.ts";

/** How tasks write programs. Limits are those of one task. */
export interface CodeTasksOptions extends Omit<AgentOptions, FolderOption> {
  /**
   * Check after the last file: nothing (`none`), a check that runs nothing (`static`), or
   * also the verifiers (`run`). A task may ask for another one in `additional_input.verify`; for
   * `run` only where there are verifiers. Default: `none`.
   */
  readonly verify?: VerifyLevel | undefined;
}

/**
 * Makes the agent that writes programs behind the task API: a step `plan`, a step
 * `specify_file_paths`, a step `Generate code for <path>` for each file, and, if wanted, `verify`
 * and the repairs that it asks for.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION`
 */
export function codeTasks(options: CodeTasksOptions = {}): TaskAgent {
  const { verify = "none", verifiers = [], budget: limits = {} } = options;
  const settings = settingsOf(options);
  const { concurrency, maxFiles, maxFileBytes, maxTotalBytes, repair } = settings;
  if (!["none", "static", "run"].includes(verify)) {
    throw optionError("verify", verify, '"none", "static" or "run"');
  }
  if (verify === "run" && verifiers.length === 0) {
    throw optionError("verifiers", "none", 'at least one for verify "run"');
  }
  const defaults = { concurrency, verify, repair, limits, canRun: verifiers.length > 0 };
  const optionsOf = ({ additionalInput }: Pick<AgentTask, "additionalInput">): TaskOptions =>
    readTaskOptions(additionalInput, defaults);

  let asked: Pick<AskOptions, "model" | "provider"> | undefined;
  const partsOf = (step: RunningStep, model?: string): StepParts => {
    // One for all calls: where its server wants them to wait, all do.
    asked ??= withProvider({ provider: options.provider, model: options.model });
    const named = optionsOf(step.task).model ?? model ?? asked.model;
    return {
      settings: { ...settings, provider: asked.provider, model: named },
      emit: (event) => {
        if (event.type === "retry") step.stream(startsAgain(event.code));
        else if (event.type === "token") step.stream(event.text);
        else if (event.type === "tool") step.stream(`\n[${event.name} ${event.about}]\n`);
      },
      signal: step.signal,
      // Usage of a step counts also when the step has no result.
      record: (_type, data) => {
        if ("usage" in data) step.spend(data.usage);
        return Promise.resolve();
      },
    };
  };
  const callOptions = (step: RunningStep, model?: string): AskOptions =>
    stepOptions(partsOf(step, model), step.budget, { step: "file" });

  const planStep = async (step: RunningStep): Promise<StepResult> => {
    const text = await plan(promptOf(step), callOptions(step, options.planModel));
    checkFileBytes(sharedDepsPath, Buffer.byteLength(text), maxFileBytes);
    return {
      output: text,
      files: [{ path: sharedDepsPath, content: withEnd(text) }],
      next: [{ name: "specify_file_paths", data: { kind: "list" } satisfies CodeStepData }],
    };
  };

  const listStep = async (step: RunningStep): Promise<StepResult> => {
    const sharedDeps = await sharedDepsOf(step);
    const calls = callOptions(step, options.planModel);
    const files = await listProjectFiles(promptOf(step), sharedDeps, maxFiles, calls);
    return {
      output: `File paths are: ${files.map(({ path }) => path).join(", ")}`,
      additionalOutput: { files },
      next: stepsOf(files, optionsOf(step.task).verify),
    };
  };

  const fileResult = (path: string, content: string): StepResult => {
    checkFileBytes(path, Buffer.byteLength(content), maxFileBytes);
    return { output: content, files: [{ path, content }], maxTotalBytes };
  };

  const writeStep = async (step: RunningStep, spec: FileSpec): Promise<StepResult> => {
    const sharedDeps = await sharedDepsOf(step);
    const context = await contextOf(spec.dependsOn, (path) => step.read(path));
    const filePath = spec.path;
    const input = { prompt: promptOf(step), sharedDeps, filePath, spec, context };
    const code = await writePlannedFile(input, callOptions(step));
    return fileResult(filePath, code);
  };

  const repairStep = async (step: RunningStep, task: RepairTask): Promise<StepResult> => {
    const { path: filePath, problems, related } = task;
    const sharedDeps = await sharedDepsOf(step);
    const source = await step.read(filePath);
    const context = await contextOf(related, (path) => step.read(path));
    const input = { prompt: promptOf(step), sharedDeps, filePath, source, problems, context };
    const code = await repairSource(input, callOptions(step, options.repairModel));
    return fileResult(filePath, code);
  };

  const verifyStep = async (
    step: RunningStep,
    { files, earlier }: Extract<CodeStepData, { readonly kind: "verify" }>,
  ): Promise<StepResult> => {
    const level = optionsOf(step.task).verify;
    const rounds = optionsOf(step.task).repair;
    const round = earlier === undefined ? 0 : earlier.round + 1;
    const sources = await sourcesOf(step);
    sources.delete(sharedDepsPath);
    const sandbox = level === "run" ? await createSandbox(options.sandbox) : undefined;
    const signal = step.budget.within(step.signal);
    const run = sandbox === undefined ? undefined : { verifiers, sandbox, signal };
    const diagnostics = await verifyFiles(sources, { files }, run);
    const errors = fingerprints(diagnostics).size;
    if (earlier !== undefined && errors >= earlier.errors) {
      return { ...(await asItWas(step, earlier)), maxTotalBytes };
    }
    const tasks = repairTasks(diagnostics, new Set(files.map(({ path }) => path)));
    const mayHelp = errors > 0 && tasks.length > 0 && round < rounds;
    const coverage = coverageOf(sources, run?.verifiers);
    const shown = diagnostics.slice(0, 100).map(describeDiagnostic);
    const result = {
      output: errors === 0 ? withoutErrors(coverage) : shown.join("\n"),
      additionalOutput: {
        ...verdictOn(errors === 0, coverage),
        level,
        round,
        diagnostics: diagnostics.slice(0, 100),
      },
    };
    if (!mayHelp) return result;
    const repairs = tasks.map((task) => ({
      name: `Repair ${task.path}`,
      data: { kind: "repair", ...task } satisfies CodeStepData,
    }));
    const names = repairs.map(({ name }) => name);
    const paths = tasks.map(({ path }) => path);
    const best = await bestOf(step, paths);
    const check = verifyStepOf(files, names, { round, errors, best, result });
    return { ...result, next: [...repairs, check] };
  };

  const editStep = async (step: RunningStep, request: string): Promise<StepResult> => {
    const place = await mkdtemp(join(tmpdir(), "fetchwork-task-"));
    try {
      // An uploaded file may be longer than the limit of changed files.
      const copy = await ConfinedFolder.open(place, { maxFileBytes: Infinity });
      for (const [path, text] of await sourcesOf(step)) await copy.write(path, text);
      const parts = partsOf(step);
      const isRun = optionsOf(step.task).verify === "run";
      const result = await runEdit({
        ...parts,
        runId: step.id,
        request: requestOf(step, request),
        settings: { ...parts.settings, verifiers: isRun ? verifiers : undefined },
        folder: await ConfinedFolder.open(place, { maxFileBytes, mustExist: true }),
        state: emptyState(),
        dryRun: true,
        canRemove: false,
        budget: step.budget,
      });
      const changed = [...result.contents].map(([path, content]) => ({ path, content }));
      return {
        output: `Changed: ${changed.map(({ path }) => path).join(", ")}`,
        additionalOutput: {
          ...verdictOn(result.ok, result),
          diagnostics: result.diagnostics.slice(0, 100),
        },
        files: changed,
        maxTotalBytes,
      };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  };

  return defineAgent({
    onTask: (task) => {
      optionsOf(task);
      return [{ name: "plan", data: { kind: "plan" } satisfies CodeStepData }];
    },
    onStep: (step) => {
      // The data that this agent stored.
      const data = step.data as CodeStepData;
      switch (data.kind) {
        case "plan":
          return planStep(step);
        case "list":
          return listStep(step);
        case "file":
          return writeStep(step, data.file);
        case "repair":
          return repairStep(step, data);
        case "verify":
          return verifyStep(step, data);
        default:
          return editStep(step, data.request);
      }
    },
    onContinue: (_task, request) => {
      const data = { kind: "edit", request } satisfies CodeStepData;
      return request.trim() === "" ? [] : [{ name: "edit", data, last: true }];
    },
    limits: (task) => optionsOf(task).limits,
    concurrency: (task) => optionsOf(task).concurrency,
  });
}

/** Text of a check without errors. Nothing is known of files that could not be checked. */
function withoutErrors({ checked, unchecked }: Coverage): string {
  if (unchecked.length === 0 && checked > 0) return "No error was found.";
  const left = unchecked.length === 0 ? "" : ` Not checked: ${unchecked.slice(0, 20).join(", ")}`;
  return checked === 0 ? `Nothing was checked.${left}` : `No error was found in the rest.${left}`;
}

/** `verified` is left out where nothing was checked. */
function verdictOn(ok: boolean, { checked, unchecked }: Coverage): JsonObject {
  return {
    ...((checked > 0 || !ok) && { verified: ok }),
    checked,
    unchecked: unchecked.slice(0, 100),
  };
}

/** Text that is shown when an answer is asked for again. */
function startsAgain(code: string): string {
  return `\n[${code}: the answer begins again]\n`;
}
