import type { AgentError } from "../errors.ts";
import type { ModelProvider } from "../models/model-provider.ts";
import { pause } from "./retry-policy.ts";

/** When calls of a provider may begin again, in milliseconds of `performance.now()`. */
const heldUntil = new WeakMap<ModelProvider, number>();

/** Delays all new calls of a provider whose server asks for it: with 429, or with a wait. */
export function hold(provider: ModelProvider, delay: number, error: AgentError): void {
  if (error.code !== "ERR_AGENT_RATE_LIMITED" && error.retryAfter === undefined) return;
  const until = performance.now() + delay;
  heldUntil.set(provider, Math.max(until, heldUntil.get(provider) ?? 0));
}

/**
 * Resolves when calls of a provider may begin.
 *
 * @throws AgentError `ERR_AGENT_CANCELLED` when the signal aborts
 */
export async function whileHeld(provider: ModelProvider, signal: AbortSignal): Promise<void> {
  for (;;) {
    const left = (heldUntil.get(provider) ?? 0) - performance.now();
    if (left <= 0) return;
    await pause(Math.ceil(left), signal);
  }
}
