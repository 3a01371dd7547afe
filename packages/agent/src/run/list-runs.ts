import type { Usage } from "../calls/budget.ts";
import { readRuns } from "./read-runs.ts";

/** A run that a folder remembers. */
export interface RunSummary {
  readonly runId: string;
  /** When its journal was last written. */
  readonly updatedAt: Date;
  /** Whether it writes a program, or changes one. */
  readonly kind: "run" | "edit";
  /** Prompt of the run, or request of the edit; undefined: the run ended before a record of one. */
  readonly prompt: string | undefined;
  /** Files that it planned, or changes; undefined: it did not come so far. */
  readonly total: number | undefined;
  /** Files that are finished. */
  readonly done: number;
  /** Whether it came to its end. A run that did not can be resumed, where there is a prompt. */
  readonly finished: boolean;
  /** Usage of the models so far. */
  readonly usage: Usage;
}

/**
 * The runs of a folder, the newest first.
 *
 * @throws AgentError `ERR_AGENT_JOURNAL` as a rejection, when a journal is damaged
 */
export async function listRuns(out: string): Promise<readonly RunSummary[]> {
  return (await readRuns(out)).map(({ runId, updatedAt, state }) => {
    const { kind, prompt, files, sources, changes, finished, usage } = state;
    const total = (kind === "edit" ? changes : files)?.length;
    const done = kind === "edit" ? (changes?.length ?? 0) : sources.size;
    return { runId, updatedAt, kind, prompt, total, done, finished, usage };
  });
}
