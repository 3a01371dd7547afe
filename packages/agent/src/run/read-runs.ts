import { lstat, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { codeOf } from "../error-code.ts";
import { AgentError, requireText } from "../errors.ts";
import { readJournal } from "../workspace/journal.ts";
import { isRunId } from "../workspace/run-id.ts";
import { readState, type RunState } from "./run-state.ts";

/** A run as its journal has it. */
export interface KnownRun {
  readonly runId: string;
  readonly updatedAt: Date;
  readonly state: RunState;
}

/**
 * Reads the journals of a folder's runs, the newest first.
 *
 * @param wanted which runs, by name. Default: all
 * @throws AgentError `ERR_AGENT_JOURNAL` as a rejection, when a journal is damaged
 */
export async function readRuns(
  out: string,
  wanted: (runId: string) => boolean = () => true,
): Promise<readonly KnownRun[]> {
  const folder = join(resolve(requireText("out", out)), ".fetchwork", "runs");
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    if (codeOf(cause) === "ENOENT") return [];
    throw new AgentError("ERR_AGENT_JOURNAL", `the runs of ${out} cannot be read`, { cause });
  });
  const runs: KnownRun[] = [];
  for (const entry of entries) {
    if (!entry.isDirectory() || !isRunId(entry.name) || !wanted(entry.name)) continue;
    const path = join(folder, entry.name, "journal.ndjson");
    const found = await lstat(path).catch(() => undefined);
    // Ended before the journal was made, or a link that somebody put there.
    if (found?.isFile() !== true) continue;
    const state = readState(await readJournal(path));
    runs.push({ runId: entry.name, updatedAt: found.mtime, state });
  }
  return runs.toSorted((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
}
