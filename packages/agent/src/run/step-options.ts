import type { AskOptions } from "../calls/ask-model.ts";
import type { Budget, Usage } from "../calls/budget.ts";
import { withProvider } from "../calls/call-options.ts";
import type { StepName } from "./agent-event.ts";
import type { AgentSettings } from "./agent-options.ts";
import type { Emit } from "./run-handle.ts";
import type { RecordStep } from "./run-state.ts";

/** Parts from which the calls of a step are made. */
export interface StepParts {
  readonly settings: AgentSettings;
  readonly emit: Emit;
  readonly signal: AbortSignal;
  readonly record: RecordStep;
}

/** Options of the calls of a step: their tokens are events, and what they use is written down. */
export function stepOptions(
  { settings, emit, signal, record }: StepParts,
  budget: Budget,
  { step, path }: { readonly step: StepName; readonly path?: string | undefined },
): AskOptions {
  return withProvider({
    provider: settings.provider,
    model: settings.model,
    temperature: settings.temperature,
    maxOutputTokens: settings.maxOutputTokens,
    retry: settings.retry,
    idleTimeout: settings.idleTimeout,
    budget,
    signal,
    onToken: (text: string) => emit({ type: "token", step, path, text }),
    // The answer that it was for is written down after it: their order in the journal is that of
    // the calls.
    onUsage: (usage: Usage) =>
      void record("spent", { usage, charged: budget.charged }).catch(() => undefined),
    onRetry: ({ attempt, delay, error: { code, message } }) =>
      emit({ type: "retry", step, path, attempt, delay, code, message }),
  });
}
