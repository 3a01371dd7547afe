import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import {
  AgentError,
  AgentUsageError,
  checkCount,
  optionError,
  requireText,
  type AgentErrorCode,
} from "../errors.ts";
import { settingsFromEnvironment, type ProviderSettings } from "../models/provider-settings.ts";
import type { BudgetOptions } from "./budget.ts";
import type { ModelCallOptions } from "./call-options.ts";

/** How `generateCodeSync` asks. All of it is data: functions cannot go to another thread. */
export interface SyncOptions extends Pick<
  ModelCallOptions,
  "maxOutputTokens" | "model" | "retry" | "temperature"
> {
  /** Milliseconds after which it fails. Required: nothing else ends a call that blocks. */
  readonly timeout: number;
  /** How to reach the model. Default: what the environment describes. */
  readonly provider?: ProviderSettings | undefined;
  /** Limits for this call. Default: none. */
  readonly budget?: BudgetOptions | undefined;
}

/** Task that goes to the worker. */
export interface SyncTask {
  readonly prompt: string;
  readonly sharedDeps: string;
  readonly filePath: string;
  readonly options: SyncOptions & { readonly provider: ProviderSettings };
}

/** Outcome that comes back from the worker. */
export type SyncOutcome =
  | { readonly code: string }
  | {
      readonly failure: {
        readonly code: string;
        readonly message: string;
        readonly status: number | undefined;
        readonly path: string | undefined;
      };
    };

/**
 * `generateCode` that blocks the thread until the file is there (specification, part B). A server
 * in the same thread cannot respond, and the thread does nothing else: prefer `generateCode`.
 *
 * @throws AgentUsageError `ERR_AGENT_ARGUMENT` for a blank argument, `ERR_AGENT_OPTION` without
 * `timeout`
 * @throws AgentError `ERR_AGENT_TIMEOUT` after `timeout`, and what `generateCode` rejects with
 */
export function generateCodeSync(
  prompt: string,
  sharedDeps: string,
  filePath: string,
  options: SyncOptions,
): string {
  requireText("prompt", prompt);
  requireText("sharedDeps", sharedDeps);
  requireText("filePath", filePath);
  // The specification has three arguments, and a caller without types may know only these.
  const given: Partial<SyncOptions> | undefined = options;
  const timeout = given?.timeout;
  if (timeout === undefined) throw optionError("timeout", timeout, "milliseconds");
  checkCount("timeout", timeout);
  // oxlint-disable-next-line node/no-process-env -- the documented default
  const { provider = settingsFromEnvironment(process.env) } = options;
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const { port1, port2 } = new MessageChannel();
  const task: SyncTask = { prompt, sharedDeps, filePath, options: { ...options, provider } };
  // The extension is that of this file: `.ts` from the sources, `.js` from the published package.
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf("."));
  const worker = new Worker(new URL(`./sync-worker${extension}`, import.meta.url), {
    workerData: { task, flag, port: port2 },
    transferList: [port2],
  });
  // An error of the worker itself is reported by its silence; without a listener it would end the
  // process.
  worker.on("error", () => undefined);
  worker.unref();
  const outcome = Atomics.wait(flag, 0, 0, timeout);
  const received = receiveMessageOnPort(port1)?.message as SyncOutcome | undefined;
  port1.close();
  void worker.terminate();
  if (received === undefined) {
    const late = outcome === "timed-out";
    throw new AgentError(
      late ? "ERR_AGENT_TIMEOUT" : "ERR_AGENT_PROVIDER",
      late ? `there was no file after ${timeout} ms` : "the worker ended without an answer",
    );
  }
  if ("code" in received) return received.code;
  const { code, message, status, path } = received.failure;
  if (code === "ERR_AGENT_ARGUMENT" || code === "ERR_AGENT_OPTION") {
    throw new AgentUsageError(code, message);
  }
  // Our own worker names only codes of ours.
  throw new AgentError(code as AgentErrorCode, message, { status, path });
}
