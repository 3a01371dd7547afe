import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { Budget } from "../calls/budget.ts";
import { createRetry } from "../calls/retry-policy.ts";
import { fingerprints, type Diagnostic } from "../check/diagnostic.ts";
import { checkOptions } from "../check-options.ts";
import { AgentError, checkCount, checkTime, optionError, requireText } from "../errors.ts";
import { coverageOf, type Coverage } from "../verify/coverage.ts";
import { createSandbox } from "../verify/sandbox.ts";
import { verifyFiles } from "../verify/verify-files.ts";
import { checkMcpServers } from "../loop/mcp-server.ts";
import { checkWorkTree } from "../workspace/commit-run.ts";
import { ConfinedFolder } from "../workspace/confined-folder.ts";
import { takeLock } from "../workspace/file-lock.ts";
import { Journal } from "../workspace/journal.ts";
import { checkRunId } from "../workspace/run-id.ts";
import type { RunHandle, RunResult } from "./agent-event.ts";
import {
  agentOptionNames,
  type AgentOptions,
  type AgentSettings,
  type EditInput,
  type ResumeInput,
  type RunInput,
} from "./agent-options.ts";
import { runEdit } from "./edit-run.ts";
import { ProjectRun, type ProjectRunParts } from "./project-run.ts";
import { readImages } from "./read-images.ts";
import { isSource, readProjectFiles } from "./read-project-files.ts";
import { startRun } from "./run-handle.ts";
import { emptyState, readState, type RecordStep, type RunState } from "./run-state.ts";

const runNames = ["out", "runId", "dryRun", "signal"] as const;

/** Writes programs. */
export interface CodeAgent {
  /** Writes a program from a prompt. */
  run(input: RunInput): RunHandle;
  /** Resumes a run or an edit that ended early; what is finished is not asked for again. */
  resume(runId: string, input: ResumeInput): RunHandle;
  /**
   * Changes a program that is there. Files with changes that git has not committed are
   * `ERR_AGENT_CONFLICT`, unless it is `dirty`.
   */
  edit(input: EditInput): RunHandle;
  /**
   * Checks a program that is there, and runs it where there are verifiers. Sources that are not
   * UTF-8 text, longer than `maxFileBytes`, or more than four times `maxFiles`, are warnings.
   */
  verify(
    out: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<ProgramCheck>;
}

/** Findings of a check of a program, and which of its files were checked. */
export interface ProgramCheck extends Coverage {
  /** Whether there is no error in what was checked. */
  readonly ok: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Makes an agent that plans, writes, checks and repairs programs.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION` for an option that is wrong
 */
export function createAgent(options: AgentOptions = {}): CodeAgent {
  checkOptions("createAgent", options, agentOptionNames);
  const settings = settingsOf(options);
  return {
    run(input) {
      checkOptions("run", input, [...runNames, "prompt", "sharedDeps"]);
      const prompt = requireText("prompt", input.prompt);
      const out = resolve(requireText("out", input.out));
      const runId = checkRunId(input.runId ?? randomUUID());
      const { dryRun = false, signal, sharedDeps } = input;
      if (sharedDeps !== undefined) requireText("sharedDeps", sharedDeps);
      return startRun(runId, (emit, own) => {
        const signals = { emit, signal: either(own, signal) };
        const shared = { runId, prompt, out, settings, sharedDeps, ...signals };
        const nothing = { state: emptyState(), record: forget, folder: undefined };
        if (dryRun) return new ProjectRun({ ...shared, ...nothing }).run();
        return withJournal(runId, { out, settings, isNew: true }, (opened) =>
          new ProjectRun({ ...shared, ...opened }).run(),
        );
      });
    },
    resume(runId, input) {
      checkOptions("resume", input, ["out", "signal"]);
      const out = resolve(requireText("out", input.out));
      checkRunId(runId);
      return startRun(runId, (emit, own) =>
        withJournal(runId, { out, settings, isNew: false }, (opened) => {
          const { prompt = "", kind } = opened.state;
          const shared = { runId, settings, emit, signal: either(own, input.signal), ...opened };
          return kind === "edit"
            ? runEdit({ ...shared, request: prompt, dryRun: false })
            : new ProjectRun({ ...shared, prompt, out }).run();
        }),
      );
    },
    edit(input) {
      checkOptions("edit", input, [
        ...runNames,
        "request",
        "dirty",
        "commit",
        "continues",
        "images",
        "mayOnlyAnswer",
      ]);
      const request = requireText("request", input.request);
      const out = resolve(requireText("out", input.out));
      const runId = checkRunId(input.runId ?? randomUUID());
      const { dryRun = false, commit = false, continues, mayOnlyAnswer } = input;
      // Changes that the earlier run left are expected.
      const { dirty = continues !== undefined } = input;
      if (continues !== undefined) checkRunId(continues);
      return startRun(runId, async (emit, own) => {
        const images = await readImages(input.images ?? []);
        const asked = { runId, request, images, settings, emit, continues, mayOnlyAnswer };
        const shared = { ...asked, signal: either(own, input.signal) };
        const folder = await ConfinedFolder.open(out, { ...settings, mustExist: true });
        if (!dryRun) {
          await checkWorkTree(folder.root, { dirty, commit });
          return withJournal(runId, { out, settings, isNew: true }, (opened) =>
            runEdit({ ...shared, ...opened, dryRun, commit }),
          );
        }
        return runEdit({ ...shared, folder, record: forget, state: emptyState(), dryRun });
      });
    },
    async verify(out, { signal = new AbortController().signal } = {}) {
      const place = resolve(requireText("out", out));
      const folder = await ConfinedFolder.open(place, { ...settings, mustExist: true });
      const unread: Diagnostic[] = [];
      const files = await readProjectFiles(folder, {
        maxFiles: settings.maxFiles,
        onUnread: (path, reason) => {
          if (isSource(path)) unread.push(unreadSource(path, reason, settings));
        },
      });
      const { verifiers = [] } = settings;
      const sandbox = verifiers.length === 0 ? undefined : await createSandbox(settings.sandbox);
      const run =
        sandbox === undefined ? undefined : { verifiers, sandbox, signal, from: folder.root };
      const diagnostics = [...(await verifyFiles(files, undefined, run)), ...unread];
      const missed = unread.map(({ path }) => path);
      const readable = new Map([...files].filter(([path]) => !missed.includes(path)));
      const { checked, unchecked } = coverageOf(readable, run?.verifiers, files);
      return {
        ok: fingerprints(diagnostics).size === 0,
        diagnostics,
        checked,
        unchecked: [...unchecked, ...missed],
      };
    },
  };
}

function unreadSource(
  path: string,
  reason: "content" | "count",
  { maxFiles, maxFileBytes }: AgentSettings,
): Diagnostic {
  const why =
    reason === "count"
      ? `only ${maxFiles * 4} files are read (four times maxFiles)`
      : `it is not UTF-8 text, or longer than ${maxFileBytes} bytes`;
  const message = `it was not checked: ${why}`;
  return { path, code: "syntax", message, severity: "warning" };
}

/**
 * Checks options, and fills in what they leave out.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION` for an option that is wrong
 */
export function settingsOf(options: AgentOptions): AgentSettings {
  const {
    concurrency = 8,
    maxFiles = 1_000,
    maxFileBytes = 2 * 1024 * 1024,
    maxTotalBytes = 64 * 1024 * 1024,
    repair = 2,
    onConflict = "merge",
  } = options;
  checkCount("concurrency", concurrency);
  checkCount("maxFiles", maxFiles);
  checkCount("maxFileBytes", maxFileBytes);
  checkCount("maxTotalBytes", maxTotalBytes);
  checkCount("repair", repair, 0);
  checkTime("idleTimeout", options.idleTimeout);
  checkCount("maxOutputTokens", options.maxOutputTokens);
  if (!["merge", "keep", "overwrite", "fail"].includes(onConflict)) {
    throw optionError("onConflict", onConflict, '"merge", "keep", "overwrite" or "fail"');
  }
  if (options.provider !== undefined && typeof options.provider.generate !== "function") {
    throw optionError("provider", options.provider, "a provider of models");
  }
  createRetry(options.retry);
  checkMcpServers(options.mcp);
  const { maxTime: _, ...limits } = options.budget ?? {};
  // Made to be checked; its time would begin to run.
  void new Budget(limits);
  checkTime("budget.maxTime", options.budget?.maxTime);
  return { ...options, concurrency, maxFiles, maxFileBytes, maxTotalBytes, repair, onConflict };
}

/** The journal of a dry run. */
const forget: RecordStep = () => Promise.resolve();

function either(own: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? own : AbortSignal.any([own, other]);
}

interface Opened {
  readonly state: RunState;
  readonly record: RecordStep;
  readonly folder: ConfinedFolder;
}

async function withJournal(
  runId: string,
  { out, settings, isNew }: Pick<ProjectRunParts, "out" | "settings"> & { readonly isNew: boolean },
  use: (opened: Opened) => Promise<RunResult>,
): Promise<RunResult> {
  const noRun = (cause?: unknown): AgentError =>
    new AgentError("ERR_AGENT_JOURNAL", `there is no run ${runId} in ${out}`, { cause });
  const folder = await ConfinedFolder.open(out, { ...settings, mustExist: !isNew }).catch(
    (error: unknown) => {
      throw isNew ? error : noRun(error);
    },
  );
  const place = `.fetchwork/runs/${runId}`;
  const path = `${place}/journal.ndjson`;
  if (!isNew && !(await folder.exists(path))) throw noRun();
  const unlock = await takeLock(folder, `${place}/lock`);
  if (unlock === undefined) {
    throw new AgentError("ERR_AGENT_BUSY", `another process works at the run ${runId} in ${out}`);
  }
  try {
    const journal = await Journal.over(await folder.openOwn(path));
    try {
      const state = readState(journal.entries);
      // A process that ended before its first entry has left a run that did not begin.
      if (isNew && journal.entries.length > 0) {
        throw new AgentError("ERR_AGENT_JOURNAL", `there is a run ${runId} in ${out} already`);
      }
      if (!isNew && state.prompt === undefined) throw noRun();
      if (isNew) {
        await folder.write(`${place}/README`, "The journal of a run of fetchwork agent.\n");
        // Prompts and answers are not for a repository.
        const ignored = await folder.openOwn(".fetchwork/.gitignore");
        try {
          await ignored.write("*\n", 0);
        } finally {
          await ignored.close();
        }
      }
      return await use({ state, folder, record: (type, data) => journal.append(type, data) });
    } finally {
      await journal.close();
    }
  } finally {
    unlock();
  }
}
