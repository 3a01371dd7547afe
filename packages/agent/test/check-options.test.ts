import { expect, it } from "vitest";
import { Budget } from "../src/calls/budget.ts";
import { createRetry } from "../src/calls/retry-policy.ts";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createAgent } from "../src/run/create-agent.ts";
import { serveTasks } from "../src/server/serve-tasks.ts";
import { createSandbox } from "../src/verify/sandbox.ts";

/** Options as a caller without types may write them. */
const wrong = (name: string): object => ({ [name]: 1 });

it.each<readonly [string, () => unknown, string]>([
  ["createAgent", () => createAgent(wrong("maxFile")), "maxFiles"],
  ["Budget", () => new Budget(wrong("maxToken")), "maxTokens"],
  ["retry", () => createRetry(wrong("attempt")), "attempts"],
  ["openAICompatible", () => openAICompatible({ baseUrl: "", ...wrong("apikey") }), "apiKey"],
  ["serveTasks", () => serveTasks(wrong("tokens")), "token"],
  ["run", () => createAgent().run({ prompt: "a", out: "b", ...wrong("dryrun") }), "dryRun"],
  ["resume", () => createAgent().resume("a", { out: "b", ...wrong("signals") }), "signal"],
  ["edit", () => createAgent().edit({ request: "a", out: "b", ...wrong("dryrun") }), "dryRun"],
  ["createSandbox", () => createSandbox(wrong("timeouts")), "timeout"],
])(
  "%s refuses an option that it does not have, and names the one that was meant",
  async (...test) => {
    const [owner, call, meant] = test;
    const error: unknown = await (async () => call())().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "ERR_AGENT_OPTION" });
    expect(String(error)).toMatch(new RegExp(`${owner} has no option .*, did you mean "${meant}"`));
  },
);
