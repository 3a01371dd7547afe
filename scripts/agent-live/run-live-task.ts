import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  AgentError,
  createAgent,
  defaultVerifiers,
  type ModelPrice,
  type ModelProvider,
  type RunResult,
  type SandboxLevel,
  type Verifier,
} from "@fetchwork/agent";
import type { LiveTask } from "./live-tasks.ts";

/** How tasks are run. */
export interface LiveOptions {
  readonly provider: ModelProvider;
  /** Most tokens of a task, questions and answers together. */
  readonly maxTokens: number;
  /** Where programs, and the hidden checks, are run. */
  readonly level: SandboxLevel;
  /** Default: unknown, and so are costs. */
  readonly price?: ModelPrice | undefined;
}

/** What became of a task. */
export interface LiveRow {
  readonly task: string;
  readonly kind: "new" | "edit";
  /** Whether the hidden check passed. */
  readonly ok: boolean;
  /** Whether the agent ended without an error, and found no fault that was not there before. */
  readonly agentOk: boolean;
  /** Questions to the model, those that failed included. */
  readonly calls: number;
  /** Tokens as the server counted them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; `null` without a price. */
  readonly cost: number | null;
  readonly seconds: number;
  /** Why it is not ok; empty where it is. */
  readonly why: string;
  /** The code of the error that ended the agent. Default: none did. */
  readonly code?: string | undefined;
}

/** Has a model do a task in a new folder, and checks what it did. */
export async function runLiveTask(task: LiveTask, options: LiveOptions): Promise<LiveRow> {
  const { name, request, files, packages } = task;
  const { maxTokens, level, price } = options;
  const out = mkdtempSync(join(tmpdir(), "agent-live-"));
  const used = { calls: 0, inputTokens: 0, outputTokens: 0 };
  const start = performance.now();
  let result: RunResult | undefined;
  let failure: AgentError | undefined;
  try {
    for (const [path, text] of Object.entries(files ?? {})) {
      mkdirSync(dirname(join(out, path)), { recursive: true });
      writeFileSync(join(out, path), text);
    }
    if (packages !== undefined) symlinkSync(packages, join(out, "node_modules"), "junction");
    const agent = createAgent({
      provider: counted(options.provider, used),
      verifiers: defaultVerifiers(),
      sandbox: { level },
      budget: { maxTokens },
    });
    try {
      const run =
        files === undefined ? agent.run({ prompt: request, out }) : agent.edit({ request, out });
      result = await run.result;
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      failure = error;
    }
    const seconds = (performance.now() - start) / 1_000;
    const fault = await hiddenFault(task, out, level);
    const { inputTokens, outputTokens } = used;
    return {
      task: name,
      kind: files === undefined ? "new" : "edit",
      ok: fault === "",
      agentOk: result?.ok === true,
      ...used,
      cost: price ? (inputTokens * price.input + outputTokens * price.output) / 1_000_000 : null,
      seconds: Math.round(seconds * 10) / 10,
      why: fault === "" ? "" : (failure?.message ?? fault).slice(0, 500),
      code: failure?.code,
    };
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** Counts what a provider is asked, and what its server says that it took. */
function counted(
  provider: ModelProvider,
  used: { calls: number; inputTokens: number; outputTokens: number },
): ModelProvider {
  return {
    id: provider.id,
    defaultModel: provider.defaultModel,
    async *generate(request, signal) {
      used.calls += 1;
      let last = { inputTokens: 0, outputTokens: 0 };
      try {
        for await (const part of provider.generate(request, signal)) {
          // A later count replaces the earlier ones of the same answer.
          if (part.type === "usage") last = part.usage;
          yield part;
        }
      } finally {
        used.inputTokens += last.inputTokens;
        used.outputTokens += last.outputTokens;
      }
    },
  };
}

/** Why the program does not do what was asked for; empty where it does. */
async function hiddenFault(task: LiveTask, out: string, level: SandboxLevel): Promise<string> {
  const { files = {}, keeps = [], check, checkFolder } = task;
  let fault = "the hidden check did not run";
  const hidden: Verifier = {
    name: "hidden check",
    applies: () => true,
    reads: () => true,
    async check(project, sandbox) {
      const changed = keeps.find((path) => project.files.get(path) !== files[path]);
      if (changed !== undefined) {
        fault = `${changed} was changed`;
        return [];
      }
      const command = [process.execPath, "--input-type=module", "-e", check];
      const { folder: cwd, signal } = project;
      const readOnly = checkFolder === undefined ? [] : [checkFolder];
      const result = await sandbox.exec(command, { cwd, signal, readOnly });
      const said = /^\S*Error\b.*$/m.exec(result.stderr)?.[0] ?? result.stderr.slice(-300);
      const end = result.timedOut ? "it took too long" : said;
      fault = result.code === 0 ? "" : `the hidden check failed: ${end}`;
      return [];
    },
  };
  await createAgent({ verifiers: [hidden], sandbox: { level, timeout: 30_000 } }).verify(out);
  return fault;
}
