import { workerData, type MessagePort } from "node:worker_threads";
import { AgentError, AgentUsageError } from "../errors.ts";
import { createProvider } from "../models/provider-settings.ts";
import { Budget } from "./budget.ts";
import type { SyncOutcome, SyncTask } from "./generate-code-sync.ts";
import { generateCode } from "./generate-code.ts";

// Started by generateCodeSync only, which passes exactly this.
const { task, flag, port } = workerData as {
  readonly task: SyncTask;
  readonly flag: Int32Array<SharedArrayBuffer>;
  readonly port: MessagePort;
};

port.postMessage(await run(task));
Atomics.store(flag, 0, 1);
Atomics.notify(flag, 0);

async function run({ prompt, sharedDeps, filePath, options }: SyncTask): Promise<SyncOutcome> {
  try {
    const { provider, budget, timeout: _, ...rest } = options;
    const code = await generateCode(prompt, sharedDeps, filePath, {
      ...rest,
      provider: createProvider(provider),
      budget: new Budget(budget),
    });
    return { code };
  } catch (error) {
    const known = error instanceof AgentError || error instanceof AgentUsageError;
    const code = known ? error.code : "ERR_AGENT_PROVIDER";
    const { status, path } = error instanceof AgentError ? error : {};
    const message = error instanceof Error ? error.message : "the worker failed";
    return { failure: { code, message, status, path } };
  }
}
