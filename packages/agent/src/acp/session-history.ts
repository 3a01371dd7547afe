import { join } from "node:path";
import { lastWords } from "../loop/run-loop.ts";
import { listRuns } from "../run/list-runs.ts";
import { readState } from "../run/run-state.ts";
import { readJournal } from "../workspace/journal.ts";

/** A prompt of a session. */
export interface SessionTurn {
  readonly runId: string;
  /** From 1. */
  readonly number: number;
  readonly request: string;
  /** Whether it came to its end; one that failed or was canceled does not belong to the conversation. */
  readonly isFinished: boolean;
  /** What the model said last. */
  readonly said: string;
}

/** A session that a folder remembers. */
interface KnownSession {
  readonly sessionId: string;
  /** The beginning of the first prompt. */
  readonly title: string;
  /** ISO 8601. */
  readonly updatedAt: string;
}

const turnForm = /^(acp-[0-9a-f]{16})-(\d{1,6})$/;
const maxTitle = 80;

/** The name of the run that a prompt of a session is. */
export function turnId(sessionId: string, number: number): string {
  return `${sessionId}-${number}`;
}

/** Reads the prompts of a session, oldest first. */
export async function sessionTurns(
  folder: string,
  sessionId: string,
): Promise<readonly SessionTurn[]> {
  const turns: SessionTurn[] = [];
  for (const { runId, finished: isFinished, prompt: request = "" } of await listRuns(folder)) {
    const [, id, number] = turnForm.exec(runId) ?? [];
    if (id !== sessionId) continue;
    const journal = join(folder, ".fetchwork", "runs", runId, "journal.ndjson");
    const { said } = readState(await readJournal(journal));
    turns.push({
      runId,
      number: Number(number),
      request,
      isFinished,
      said: said ? lastWords(said) : "",
    });
  }
  return turns.toSorted((one, other) => one.number - other.number);
}

/** Lists the sessions of a folder, the newest first. */
export async function sessionsOf(folder: string): Promise<readonly KnownSession[]> {
  const sessions = new Map<string, KnownSession>();
  for (const { runId, finished, prompt = "", updatedAt } of await listRuns(folder)) {
    const [, sessionId] = turnForm.exec(runId) ?? [];
    if (sessionId === undefined || !finished) continue;
    // The newest come first, and the first prompt is the title.
    const newest = sessions.get(sessionId)?.updatedAt ?? updatedAt.toISOString();
    sessions.set(sessionId, { sessionId, title: prompt.slice(0, maxTitle), updatedAt: newest });
  }
  return [...sessions.values()];
}
