import type { Store } from "@fetchwork/documents";
import type { Handler } from "@fetchwork/http";
import { checkCount } from "../errors.ts";
import { AutomaticTasks } from "./automatic-tasks.ts";
import { createGuard, type GuardOptions } from "./guard.ts";
import { routeRequests } from "./route-requests.ts";
import { StepRunner } from "./step-runner.ts";
import type { TaskAgent } from "./task-agent.ts";
import { TaskApi } from "./task-api.ts";
import { TaskBus } from "./task-bus.ts";
import { TaskStore } from "./task-store.ts";

/** Options of a handler of tasks. */
export interface TaskHandlerOptions extends GuardOptions {
  /** Keeps the tasks; several servers may share one. */
  readonly store: Store;
  /** Runs the steps. */
  readonly agent: TaskAgent;
  /** Whether no other process uses the store: running steps are lost then. Default: `false`. */
  readonly exclusive?: boolean | undefined;
  /** Milliseconds until another server takes over a lost step, from 300. Default: `30_000`. */
  readonly lease?: number | undefined;
  /** Tasks that this server runs by itself at the same time (`POST …/run`). Default: 4. */
  readonly automaticTasks?: number | undefined;
  /** Maximum bytes of an uploaded file. Default: 32 MiB. */
  readonly maxUploadBytes?: number | undefined;
  /** Maximum bytes that are uploaded to a task, replaced files included. Default: 1 GiB. */
  readonly maxTaskBytes?: number | undefined;
  /** Maximum files of a task, uploads included. Default: `10_000`. */
  readonly maxFiles?: number | undefined;
  /** Hears what went wrong inside of the server. Default: `console.error`. */
  readonly reportError?: ((error: unknown) => void) | undefined;
}

/** A handler of the task API, with what runs behind it. */
export interface TaskHandler extends AsyncDisposable {
  readonly handler: Handler;
  /**
   * Begins no more steps, and ends those that run after `gracePeriod` milliseconds (default: 0);
   * they are run again later, here or elsewhere. Does not close the store.
   */
  stop(options?: { readonly gracePeriod?: number | undefined }): Promise<void>;
}

/**
 * Makes the handler of the task API: the nine operations of the Agent Protocol, version 1, under
 * `/agent` and `/ap/v1/agent`, events, run, cancel, delete and archive, the OpenAPI document,
 * `/healthz`, and the page at `/`.
 *
 * @throws AgentUsageError `ERR_AGENT_OPTION`
 */
export async function createTaskHandler(options: TaskHandlerOptions): Promise<TaskHandler> {
  const { agent, exclusive = false, lease = 30_000, automaticTasks = 4 } = options;
  const { maxUploadBytes = 32 * 1024 * 1024, maxFiles = 10_000 } = options;
  const { maxTaskBytes = 1024 ** 3, reportError = console.error } = options;
  checkCount("lease", lease, 300);
  checkCount("automaticTasks", automaticTasks);
  checkCount("maxUploadBytes", maxUploadBytes);
  checkCount("maxTaskBytes", maxTaskBytes);
  checkCount("maxFiles", maxFiles);
  const guard = createGuard(options);
  const bus = new TaskBus();
  const store = new TaskStore(options.store, bus);
  const runner = new StepRunner({ store, bus, agent, lease, reportError });
  const automatic = new AutomaticTasks({
    store,
    runner,
    agent,
    limit: automaticTasks,
    lease,
    pollInterval: Math.min(2_000, lease),
    reportError,
  });
  await store.recover(exclusive ? "all" : "expired");
  const stopping = new AbortController();
  const api = new TaskApi({
    agent,
    maxUploadBytes,
    maxTaskBytes,
    maxFiles,
    store,
    bus,
    runner,
    automatic,
    stopping: stopping.signal,
  });
  const handler = routeRequests({
    guard,
    routes: api.routes(),
    check: async () => void (await store.tasks.count({ max: 1 })),
    reportError,
  });
  const stop: TaskHandler["stop"] = async ({ gracePeriod = 0 } = {}) => {
    stopping.abort(new Error("the server stops"));
    await Promise.all([automatic.stop(), runner.stop(gracePeriod)]);
  };
  automatic.start();
  return { handler, stop, [Symbol.asyncDispose]: () => stop() };
}
