import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { askModel, type AskOptions } from "../calls/ask-model.ts";
import { Budget, type Usage } from "../calls/budget.ts";
import { withProvider } from "../calls/call-options.ts";
import { requirePlan } from "../calls/plan.ts";
import { fileMessages, planMessages } from "../calls/prompts.ts";
import { repairSource } from "../calls/repair-source.ts";
import { writeSource } from "../calls/write-source.ts";
import { describeDiagnostic, fingerprints } from "../check/diagnostic.ts";
import { AgentError, checkCount, optionError } from "../errors.ts";
import type { AgentOptions } from "../run/agent-options.ts";
import { settingsOf } from "../run/create-agent.ts";
import { runEdit } from "../run/edit-run.ts";
import { specifyFiles } from "../run/plan-project.ts";
import { sharedDepsPath, withEnd } from "../run/project-run.ts";
import { repairTasks } from "../run/repair-files.ts";
import { emptyState } from "../run/run-state.ts";
import { coverageOf, type Coverage } from "../verify/coverage.ts";
import { createSandbox } from "../verify/sandbox.ts";
import { verifyFiles } from "../verify/verify-files.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import {
  asItWas,
  bestOf,
  filesOf,
  promptOf,
  requestOf,
  sharedDepsOf,
  sourcesOf,
  specOf,
  stepsOf,
  taskOf,
  verifyStepOf,
} from "./code-steps.ts";
import { contextFiles } from "./context-files.ts";
import { readTaskWishes, type TaskWishes, type VerifyLevel } from "./task-wishes.ts";
import {
  defineAgent,
  type AgentTask,
  type JsonObject,
  type NewStep,
  type RunningStep,
  type StepResult,
  type TaskAgent,
} from "./task-agent.ts";

/** How tasks write programs. Limits are those of one task. */
export interface CodeTasksOptions extends Pick<
  AgentOptions,
  | "budget"
  | "concurrency"
  | "idleTimeout"
  | "maxFileBytes"
  | "maxFiles"
  | "maxOutputTokens"
  | "maxTotalBytes"
  | "model"
  | "planModel"
  | "provider"
  | "repair"
  | "repairModel"
  | "retry"
  | "sandbox"
  | "temperature"
  | "verifiers"
> {
  /**
   * What happens after the last file: nothing (`none`), a check that runs nothing (`static`), or also the verifiers
   * (`run`). A task may ask for another one in `additional_input.verify`; for `run` only where there are verifiers.
   * Default: `none`.
   */
  readonly verify?: VerifyLevel | undefined;
}

/**
 * Makes the agent that writes programs behind the task API: a step `plan`, a step `specify_file_paths`, a step
 * `Generate code for <path>` for each file, and, if wanted, `verify` and the repairs that it asks for.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION`
 */
export function codeTasks(options: CodeTasksOptions = {}): TaskAgent {
  const { concurrency = 8, maxFiles = 1_000, maxFileBytes = 2 * 1024 * 1024 } = options;
  const { maxTotalBytes = 64 * 1024 * 1024, repair = 2, verify = "none" } = options;
  const { verifiers = [], budget: limits = {} } = options;
  const settings = settingsOf(options);
  if (!["none", "static", "run"].includes(verify)) {
    throw optionError("verify", verify, '"none", "static" or "run"');
  }
  checkCount("concurrency", concurrency);
  if (verify === "run" && verifiers.length === 0) {
    throw optionError("verifiers", "none", 'at least one for verify "run"');
  }
  const defaults = { concurrency, verify, repair, limits, canRun: verifiers.length > 0 };
  const wishesOf = ({ additionalInput }: Pick<AgentTask, "additionalInput">): TaskWishes =>
    readTaskWishes(additionalInput, defaults);

  let { provider } = options;
  const callOptions = (step: RunningStep, model: string | undefined): AskOptions => {
    const asking = withProvider({
      provider,
      model: wishesOf(step.task).model ?? model ?? options.model,
      temperature: options.temperature,
      maxOutputTokens: options.maxOutputTokens,
      retry: options.retry,
      idleTimeout: options.idleTimeout,
      budget: step.budget,
      signal: step.signal,
      onToken: (text: string) => step.say(text),
      onUsage: (usage: Usage) => step.spend(usage),
      onRetry: ({ error }) => step.say(beginsAnew(error.code)),
    });
    // One for all calls: where its server wants them to wait, all do.
    provider = asking.provider;
    return asking;
  };

  const planStep = async (step: RunningStep): Promise<StepResult> => {
    const messages = planMessages(promptOf(step), []);
    const { text } = await askModel({ messages }, callOptions(step, options.planModel));
    requirePlan(text);
    checkSize(sharedDepsPath, text);
    return {
      output: text,
      files: [{ path: sharedDepsPath, content: withEnd(text) }],
      next: [{ name: "specify_file_paths" }],
    };
  };

  const listStep = async (step: RunningStep): Promise<StepResult> => {
    const sharedDeps = await sharedDepsOf(step);
    const asked = callOptions(step, options.planModel);
    const listed = await specifyFiles(promptOf(step), sharedDeps, asked);
    const files = listed.filter(({ path }) => path.toLowerCase() !== sharedDepsPath);
    if (files.length === 0 || files.length > maxFiles) {
      const message = `the model lists ${files.length} files, expected 1 to ${maxFiles}`;
      throw new AgentError("ERR_AGENT_LIMIT", message);
    }
    return {
      output: `File paths are: ${files.map(({ path }) => path).join(", ")}`,
      additionalOutput: { files },
      next: stepsOf(files, wishesOf(step.task).verify),
    };
  };

  const writeStep = async (step: RunningStep): Promise<StepResult> => {
    const spec = specOf(step.data["file"]);
    const sharedDeps = await sharedDepsOf(step);
    const context = await contextFiles(spec.dependsOn, step);
    const prompt = promptOf(step);
    const filePath = spec.path;
    const { code } = await writeSource(
      filePath,
      (complaints, form) =>
        fileMessages({ prompt, sharedDeps, filePath, spec, context, complaints }, form),
      callOptions(step, undefined),
    );
    checkSize(filePath, code);
    return { output: code, files: [{ path: filePath, content: code }], maxTotalBytes };
  };

  const repairStep = async (step: RunningStep): Promise<StepResult> => {
    const { path: filePath, problems, related } = taskOf(step.data);
    const sharedDeps = await sharedDepsOf(step);
    const [source, context] = await Promise.all([step.read(filePath), contextFiles(related, step)]);
    const input = { prompt: promptOf(step), sharedDeps, filePath, source, problems, context };
    const { code } = await repairSource(input, callOptions(step, options.repairModel));
    checkSize(filePath, code);
    return { output: code, files: [{ path: filePath, content: code }], maxTotalBytes };
  };

  const verifyStep = async (step: RunningStep): Promise<StepResult> => {
    const level = wishesOf(step.task).verify;
    const rounds = wishesOf(step.task).repair;
    const round = Number(step.data["round"] ?? 0);
    const files = filesOf(step.data);
    const sources = await sourcesOf(step);
    sources.delete(sharedDepsPath);
    const sandbox = level === "run" ? await createSandbox(options.sandbox) : undefined;
    const signal = step.budget.within(step.signal);
    const run = sandbox === undefined ? undefined : { verifiers, sandbox, signal };
    const diagnostics = await verifyFiles(sources, { files }, run);
    const errors = fingerprints(diagnostics).size;
    const before = Number(step.data["errors"] ?? Infinity);
    if (errors >= before) return { ...(await asItWas(step)), maxTotalBytes };
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
    const repairs: readonly NewStep[] = tasks.map(({ path, problems, related }) => ({
      name: `Repair ${path}`,
      data: { kind: "repair", path, problems, related },
    }));
    const again = {
      ...verifyStepOf(
        files,
        repairs.map(({ name }) => name),
      ),
      data: {
        kind: "verify",
        files,
        round: round + 1,
        errors,
        best: await bestOf(
          step,
          tasks.map(({ path }) => path),
        ),
        ...result,
      },
    };
    return { ...result, next: [...repairs, again] };
  };

  const editStep = async (step: RunningStep): Promise<StepResult> => {
    const place = await mkdtemp(join(tmpdir(), "fetchwork-task-"));
    try {
      // What was uploaded may be longer than what is changed.
      const copy = await ConfinedFolder.open(place, { maxFileBytes: Infinity });
      for (const [path, text] of await sourcesOf(step)) await copy.write(path, text);
      const { model = options.model, verify: level } = wishesOf(step.task);
      const result = await runEdit({
        runId: step.id,
        request: requestOf(step),
        settings: { ...settings, model, verifiers: level === "run" ? verifiers : undefined },
        emit: (event) => {
          if (event.type === "retry") step.say(beginsAnew(event.code));
          else if (event.type === "token") step.say(event.text);
          else if (event.type === "tool") step.say(`\n[${event.name} ${event.about}]\n`);
        },
        signal: step.signal,
        folder: await ConfinedFolder.open(place, { maxFileBytes, mustExist: true }),
        state: emptyState(),
        // What an edit used counts also when nothing comes of it.
        record: (_type, data) => {
          if ("usage" in data) step.spend(data.usage);
          return Promise.resolve();
        },
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

  const checkSize = (path: string, source: string): void => {
    const bytes = Buffer.byteLength(source);
    if (bytes <= maxFileBytes) return;
    const message = `${path} has ${bytes} bytes, more than the ${maxFileBytes} that are allowed`;
    throw new AgentError("ERR_AGENT_LIMIT", message, { path });
  };

  const kinds = new Map([
    ["edit", editStep],
    ["file", writeStep],
    ["repair", repairStep],
    ["verify", verifyStep],
  ]);

  return defineAgent({
    onTask: (task) => {
      wishesOf(task);
      return [{ name: "plan" }];
    },
    onStep: (step) => {
      const run = kinds.get(String(step.data["kind"]));
      if (run !== undefined) return run(step);
      return step.name === "plan" ? planStep(step) : listStep(step);
    },
    onContinue: (_task, request) =>
      request.trim() === "" ? [] : [{ name: "edit", data: { kind: "edit", request }, last: true }],
    limits: (task, used) => {
      const budget = new Budget(wishesOf(task).limits);
      budget.restore(used);
      return budget;
    },
    concurrency: (task) => wishesOf(task).concurrency,
  });
}

/** What a check without errors says: of what could not be checked nothing is known. */
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

/** What is shown when an answer is asked for again. */
function beginsAnew(code: string): string {
  return `\n[${code}: the answer begins again]\n`;
}
