import { AgentError, AgentUsageError } from "../errors.ts";
import type { AgentEvent, RunHandle, RunResult } from "./agent-event.ts";

/** Sends an event to all listeners. */
export type Emit = (event: AgentEvent) => void;

/** Maximum tokens that wait for a slow listener; more are left out. */
const maxTokens = 10_000;

interface Listener {
  readonly tokens: AgentEvent[];
  readonly wake: () => void;
}

/** Starts work and makes the handle of it. */
export function startRun(
  runId: string,
  work: (emit: Emit, signal: AbortSignal) => Promise<RunResult>,
): RunHandle {
  const events: (AgentEvent | undefined)[] = [];
  const listeners = new Set<Listener>();
  const controller = new AbortController();
  let ended = false;

  const wakeAll = (): void => {
    for (const { wake } of listeners) wake();
  };
  const emit: Emit = (event) => {
    if (event.type === "token") {
      for (const { tokens } of listeners) if (tokens.length < maxTokens) tokens.push(event);
    } else events.push(event);
    wakeAll();
  };
  const result = work(emit, controller.signal)
    .then(
      (value) => {
        emit({ type: "finished", result: value });
        return value;
      },
      (error: unknown) => {
        const isOurs = error instanceof AgentError || error instanceof AgentUsageError;
        const code = isOurs ? error.code : "ERR_AGENT_WRITE";
        const message = error instanceof Error ? error.message : String(error);
        emit({ type: "failed", code, message });
        throw error;
      },
    )
    .finally(() => {
      ended = true;
      wakeAll();
    });
  // A caller that only iterates gets a failure as an event.
  result.catch(() => undefined);

  async function* listen(): AsyncGenerator<AgentEvent, undefined> {
    let wake: (() => void) | undefined;
    const listener: Listener = { tokens: [], wake: () => wake?.() };
    listeners.add(listener);
    try {
      for (let next = 0; ;) {
        const event = next < events.length ? events[next] : undefined;
        if (event !== undefined) {
          next += 1;
          // Tokens that came before it are older than it.
          yield* listener.tokens.splice(0);
          yield event;
        } else if (listener.tokens.length > 0) yield* listener.tokens.splice(0);
        else if (ended) return undefined;
        else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      listeners.delete(listener);
    }
  }

  return {
    runId,
    result,
    cancel: (reason = "the run was cancelled") =>
      controller.abort(new AgentError("ERR_AGENT_CANCELLED", reason)),
    [Symbol.asyncIterator]: listen,
  };
}
