import type { AskOptions } from "../calls/ask-model.ts";
import { Budget } from "../calls/budget.ts";
import { withProvider } from "../calls/call-options.ts";
import { plan } from "../calls/plan.ts";
import { repairSource } from "../calls/repair-source.ts";
import { writePlannedFile } from "../calls/write-source.ts";
import { fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { AgentError, cancelled, checkFileBytes, type AgentErrorCode } from "../errors.ts";
import { schedule } from "../files/schedule.ts";
import type { FileSpec } from "../project/project-plan.ts";
import { createSandbox, type Sandbox, type SandboxLevel } from "../verify/sandbox.ts";
import { coverageOf } from "../verify/coverage.ts";
import { levelFor, preventsRun, verifyFiles } from "../verify/verify-files.ts";
import type { ConfinedFolder } from "../workspace/confined-folder.ts";
import { written, type WrittenFile } from "../workspace/project-writer.ts";
import type { RunResult, StepName } from "./agent-event.ts";
import { checkGrowth } from "./check-limits.ts";
import { contextOf } from "./context-files.ts";
import { generateFiles } from "./generate-files.ts";
import { listProjectFiles, sharedDepsPath } from "./plan-project.ts";
import { repairTasks, type RepairTask } from "./repair-files.ts";
import { repairKey, type RunState } from "./run-state.ts";
import { stepOptions, type StepParts } from "./step-options.ts";
import { writeFiles } from "./write-files.ts";

/** Parts of a run. */
export interface ProjectRunParts extends StepParts {
  readonly runId: string;
  readonly prompt: string;
  /** A plan that was given. Default: what the journal says, else the model is asked. */
  readonly sharedDeps?: string | undefined;
  readonly state: RunState;
  /** Undefined: nothing is written. */
  readonly folder: ConfinedFolder | undefined;
  readonly out: string;
}

/** One run from prompt to files: each finished step is recorded, and not done again. */
export class ProjectRun {
  #parts: ProjectRunParts;
  readonly #budget: Budget;
  /** Why files have no usable answer, by path. */
  readonly #failed = new Map<string, AgentError>();
  #sandbox: Sandbox | undefined;
  #level: SandboxLevel | undefined;

  constructor(parts: ProjectRunParts) {
    this.#parts = parts;
    this.#budget = new Budget(parts.settings.budget);
    this.#budget.restore(parts.state.usage, parts.state.charged);
  }

  async run(): Promise<RunResult> {
    const { runId, prompt, settings, state, record, emit, signal } = this.#parts;
    emit({ type: "started", runId, resumed: state.prompt !== undefined });
    if (state.prompt === undefined) {
      const { sharedDeps } = this.#parts;
      await record("start", { prompt, kind: "run", sharedDeps });
      state.sharedDeps = sharedDeps;
    }
    // One provider for all calls: where its server wants them to wait, all do.
    const { provider, model } = withProvider({
      provider: settings.provider,
      model: settings.model,
    });
    this.#parts = { ...this.#parts, settings: { ...settings, provider, model } };
    if (settings.verifiers !== undefined && settings.verifiers.length > 0) {
      this.#sandbox = await createSandbox(settings.sandbox);
    }
    const sharedDeps = await this.#plan();
    emit({ type: "planned", sharedDeps, usage: this.#budget.usage });
    const files = await this.#files(sharedDeps);
    emit({ type: "files", files, levels: schedule(files), usage: this.#budget.usage });
    this.#report(files);
    await generateFiles(
      files.filter(({ path }) => !state.sources.has(path)),
      settings.concurrency,
      (file) => this.#orFailed(file.path, this.#file(file, sharedDeps, files)),
    );
    const [failure] = this.#failed.values();
    if (failure !== undefined && state.sources.size === 0) throw failure;
    checkGrowth(new Map(), state.sources, settings);
    const sources = new Map(
      files.flatMap(({ path }): readonly (readonly [string, string])[] => {
        const source = state.sources.get(path);
        return source === undefined ? [] : [[path, source]];
      }),
    );
    const outcome = await this.#repair(sources, sharedDeps, files);
    if (signal.aborted) throw cancelled(signal);
    const contents = new Map([[sharedDepsPath, withEnd(sharedDeps)], ...outcome.sources]);
    return this.#finish(contents, outcome, { sharedDeps, files });
  }

  /** Options of the calls of a step, with its model. */
  #options(step: StepName, path?: string): AskOptions {
    const { planModel, repairModel, model } = this.#parts.settings;
    const isPlan = step === "plan" || step === "files";
    const options = stepOptions(this.#parts, this.#budget, { step, path });
    const own = (isPlan ? planModel : step === "repair" ? repairModel : undefined) ?? model;
    return own === undefined ? options : { ...options, model: own };
  }

  async #plan(): Promise<string> {
    const { state, prompt, record, emit } = this.#parts;
    if (state.sharedDeps !== undefined) return state.sharedDeps;
    emit({ type: "step", step: "plan" });
    const text = await plan(prompt, this.#options("plan"));
    this.#checkFile(sharedDepsPath, text);
    await record("plan", { text });
    state.sharedDeps = text;
    return text;
  }

  async #files(sharedDeps: string): Promise<readonly FileSpec[]> {
    const { state, prompt, record, emit, settings } = this.#parts;
    if (state.files !== undefined) return state.files;
    emit({ type: "step", step: "files" });
    const options = this.#options("files");
    const files = await listProjectFiles(prompt, sharedDeps, settings.maxFiles, options);
    await record("files", { files });
    state.files = files;
    return files;
  }

  /** Files that an earlier process has finished are there at once. */
  #report(files: readonly FileSpec[]): void {
    const { state } = this.#parts;
    let done = 0;
    for (const { path } of files) {
      const code = state.sources.get(path);
      if (code !== undefined) this.#fileEvent(path, code, (done += 1), files.length);
    }
  }

  #fileEvent(path: string, code: string, done: number, total: number): void {
    const bytes = Buffer.byteLength(code);
    this.#parts.emit({ type: "file", path, bytes, done, total, usage: this.#budget.usage });
  }

  async #file(spec: FileSpec, sharedDeps: string, files: readonly FileSpec[]): Promise<void> {
    const { state, prompt, record, emit } = this.#parts;
    const { path } = spec;
    emit({ type: "step", step: "file", path });
    const context = await contextOf(spec.dependsOn, (used) => state.sources.get(used));
    const input = { prompt, sharedDeps, filePath: path, spec, context };
    const code = await writePlannedFile(input, this.#options("file", path));
    this.#checkFile(path, code);
    await record("file", { path, code });
    state.sources.set(path, code);
    this.#fileEvent(path, code, state.sources.size, files.length);
  }

  /** Keeps why a file has no usable answer: the others are written all the same. */
  async #orFailed<T>(path: string, writing: Promise<T>): Promise<T | undefined> {
    try {
      return await writing;
    } catch (error) {
      if (!(error instanceof AgentError) || !ofOneFile.has(error.code)) throw error;
      this.#failed.set(path, error);
      return undefined;
    }
  }

  #checkFile(path: string, code: string): void {
    checkFileBytes(path, Buffer.byteLength(code), this.#parts.settings.maxFileBytes);
  }

  async #check(
    sources: ReadonlyMap<string, string>,
    files: readonly FileSpec[],
    round: number,
  ): Promise<readonly Diagnostic[]> {
    const { settings, emit } = this.#parts;
    const { verifiers = [] } = settings;
    const signal = this.#budget.within(this.#parts.signal);
    emit({ type: "step", step: "verify", round });
    const sandbox = this.#sandbox;
    const run = sandbox === undefined ? undefined : { verifiers, sandbox, signal };
    const found = await verifyFiles(sources, { files }, run);
    const diagnostics = found.map((one): Diagnostic => {
      const failure = sources.has(one.path) ? undefined : this.#failed.get(one.path);
      return failure === undefined ? one : { ...one, message: `not written: ${failure.message}` };
    });
    this.#level = found.some((one) => preventsRun(one, true)) ? undefined : levelFor(sources, run);
    const coverage = coverageOf(sources, run?.verifiers);
    emit({ type: "checked", round, diagnostics, ...coverage, level: this.#level });
    return diagnostics;
  }

  /** Repairs the files that errors name while errors become fewer. The best state wins. */
  async #repair(
    first: ReadonlyMap<string, string>,
    sharedDeps: string,
    files: readonly FileSpec[],
  ): Promise<Outcome> {
    const { settings } = this.#parts;
    const ours = new Set(files.map(({ path }) => path));
    let best: Outcome = {
      sources: first,
      diagnostics: await this.#check(first, files, 0),
      repairs: 0,
    };
    for (let round = 1; round <= settings.repair; round += 1) {
      const before = fingerprints(best.diagnostics);
      const tasks = repairTasks(best.diagnostics, ours);
      if (before.size === 0 || tasks.length === 0) break;
      const sources = new Map(best.sources);
      const specs = tasks.map(({ path }) => ({ path, dependsOn: [], purpose: "", exports: [] }));
      await generateFiles(specs, settings.concurrency, async ({ path }) => {
        const task = tasks.find((one) => one.path === path);
        if (task === undefined) return;
        const repairing = this.#repairOne(task, round, best.sources, sharedDeps);
        const code = await this.#orFailed(path, repairing);
        if (code !== undefined) sources.set(path, code);
      });
      const diagnostics = await this.#check(sources, files, round);
      const after = fingerprints(diagnostics);
      if (after.size >= before.size) return { ...best, repairs: round };
      best = { sources, diagnostics, repairs: round };
    }
    return best;
  }

  async #repairOne(
    { path, problems, related }: RepairTask,
    round: number,
    sources: ReadonlyMap<string, string>,
    sharedDeps: string,
  ): Promise<string> {
    const { state, prompt, record, emit } = this.#parts;
    const finished = state.repaired.get(repairKey(round, path));
    if (finished !== undefined) return finished;
    emit({ type: "step", step: "repair", path, round });
    const context = await contextOf(related, (used) => sources.get(used));
    const source = sources.get(path);
    const input = { prompt, sharedDeps, filePath: path, source, problems, context };
    const code = await repairSource(input, this.#options("repair", path));
    this.#checkFile(path, code);
    await record("repair", { path, code, round });
    state.repaired.set(repairKey(round, path), code);
    return code;
  }

  async #finish(
    contents: ReadonlyMap<string, string>,
    { diagnostics, repairs }: Outcome,
    plan: RunResult["plan"],
  ): Promise<RunResult> {
    const { runId, folder, out, record, settings, state, signal, emit } = this.#parts;
    const files: WrittenFile[] = [];
    if (folder === undefined) {
      for (const [path, text] of contents) files.push(written(path, "skipped", text));
    } else {
      emit({ type: "step", step: "write" });
      const writing = { settings, record, intents: state.intents, signal, emit };
      files.push(...(await writeFiles(contents, folder, writing)));
      // Missing files are asked for again when the run is resumed.
      if (plan.files.every(({ path }) => contents.has(path))) await record("done", {});
    }
    return {
      runId,
      out,
      ok: fingerprints(diagnostics).size === 0,
      plan,
      files,
      contents,
      diagnostics,
      knownErrors: 0,
      ...coverageOf(contents, this.#sandbox === undefined ? [] : settings.verifiers),
      repairs,
      usage: this.#budget.usage,
      sandbox: this.#level,
    };
  }
}

/** Codes of errors that may concern only the answers for one file. */
const ofOneFile: ReadonlySet<AgentErrorCode> = new Set([
  "ERR_AGENT_CONTEXT_OVERFLOW",
  "ERR_AGENT_EMPTY",
  "ERR_AGENT_LIMIT",
  "ERR_AGENT_REFUSED",
  "ERR_AGENT_TRUNCATED",
  "ERR_AGENT_UNUSABLE",
]);

interface Outcome {
  readonly sources: ReadonlyMap<string, string>;
  readonly diagnostics: readonly Diagnostic[];
  readonly repairs: number;
}

/** The text with a line break at its end. */
export function withEnd(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
