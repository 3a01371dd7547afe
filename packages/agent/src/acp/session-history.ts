import { lastWords } from "../loop/run-loop.ts";
import { readRuns } from "../run/read-runs.ts";

/** A prompt of a session. */
export interface SessionTurn {
  readonly runId: string;
  /** From 1. */
  readonly number: number;
  readonly request: string;
  /** Whether it finished; one that failed or was canceled is not part of the conversation. */
  readonly isFinished: boolean;
  /** Last words of the model. */
  readonly summary: string;
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
  const runs = await readRuns(folder, (runId) => turnForm.exec(runId)?.[1] === sessionId);
  const found = runs.map(({ runId, state }): SessionTurn => {
    const { finished: isFinished, prompt: request = "", turns } = state;
    const number = Number(turnForm.exec(runId)?.[2]);
    return { runId, number, request, isFinished, summary: turns ? lastWords(turns) : "" };
  });
  return found.toSorted((one, other) => one.number - other.number);
}

/** Lists the sessions of a folder, the newest first. */
export async function sessionsOf(folder: string): Promise<readonly KnownSession[]> {
  const sessions = new Map<string, KnownSession>();
  for (const { runId, state, updatedAt } of await readRuns(folder, (id) => turnForm.test(id))) {
    const { finished, prompt = "" } = state;
    const [, sessionId = ""] = turnForm.exec(runId) ?? [];
    if (!finished) continue;
    // The newest come first, and the first prompt is the title.
    const newest = sessions.get(sessionId)?.updatedAt ?? updatedAt.toISOString();
    sessions.set(sessionId, { sessionId, title: prompt.slice(0, maxTitle), updatedAt: newest });
  }
  return [...sessions.values()];
}
