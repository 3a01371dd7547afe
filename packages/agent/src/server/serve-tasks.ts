import { openStore, type Store } from "@fetchwork/documents";
import { serve, type RunningServer } from "@fetchwork/http/serve";
import { isLoopbackHost } from "@fetchwork/kit";
import { checkOptions } from "../check-options.ts";
import { optionError } from "../errors.ts";
import { taskOptionNames } from "../run/agent-options.ts";
import { codeTasks, type CodeTasksOptions } from "./code-tasks.ts";
import { createGuard } from "./guard.ts";
import type { TaskAgent } from "./task-agent.ts";
import { createTaskHandler, type TaskHandler, type TaskHandlerOptions } from "./task-handler.ts";
import { taskCollections } from "./task-records.ts";

/** How tasks are served. */
export interface ServeTasksOptions
  extends CodeTasksOptions, Omit<TaskHandlerOptions, "agent" | "exclusive" | "maxFiles" | "store"> {
  /** TCP port; 0 lets the system choose. Default: 8000. */
  readonly port?: number | undefined;
  /** Address to listen on. One that is not loopback needs a `token`. Default: `127.0.0.1`. */
  readonly hostname?: string | undefined;
  /**
   * Store of the tasks, or its URL, which servers may share. Default: `sqlite:.fetchwork/tasks.db`.
   */
  readonly store?: Store | string | undefined;
  /** Runs the steps. Default: `codeTasks` of these options. */
  readonly agent?: TaskAgent | undefined;
  /** Whether SIGTERM and SIGINT stop the server. Default: `true`. */
  readonly signals?: boolean | undefined;
  /** Stops the server when it is aborted. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that running steps have to end once the server stops. Default: `10_000`. */
  readonly gracePeriod?: number | undefined;
}

const optionNames = [
  ...taskOptionNames,
  "agent",
  "automaticTasks",
  "gracePeriod",
  "hostname",
  "hosts",
  "lease",
  "maxTaskBytes",
  "maxUploadBytes",
  "port",
  "reportError",
  "signal",
  "signals",
  "store",
  "token",
  "verify",
] as const;

/** Milliseconds for the responses of steps that ended because the server stops. */
const respondingTime = 2_000;

/**
 * Serves the task API and its page.
 *
 * When it stops, steps have the grace period to end; others are put back, and run again when
 * somebody asks for them.
 *
 * @example
 * ```ts
 * const server = await serveTasks({ store: "sqlite:data/tasks.db", verify: "static" });
 * console.log(`listening on ${server.url}`);
 * await server.finished;
 * ```
 * @throws AgentUsageError `ERR_AGENT_OPTION` as a rejection, for an address that others reach and
 * no `token`
 */
export async function serveTasks(options: ServeTasksOptions = {}): Promise<RunningServer> {
  checkOptions("serveTasks", options, optionNames);
  const { port = 8_000, hostname = "127.0.0.1", token, hosts = [], signal } = options;
  const { agent = codeTasks(options), store: place = "sqlite:.fetchwork/tasks.db" } = options;
  const { reportError = console.error, gracePeriod = 10_000, signals = true } = options;
  if (!isLoopbackHost(hostname) && token === undefined) {
    throw optionError("token", token, `set, since ${hostname} can be reached from other machines`);
  }
  // Invalid options are reported before a file is made.
  createGuard({ hosts, token });
  const isOwn = typeof place === "string";
  const exclusive = isOwn && place.startsWith("sqlite:");
  const collections = Object.values(taskCollections);
  const store = isOwn ? await openStore(place, { exclusive, collections }) : place;
  const closeStore = async (): Promise<void> => {
    if (isOwn) await store.close();
  };
  try {
    const isAny = hostname === "0.0.0.0" || hostname === "::" || hostname === "[::]";
    const own = isAny ? [] : [hostOf(hostname)];
    const tasks = await createTaskHandler({
      ...options,
      hosts: [...hosts, ...own],
      store,
      agent,
      exclusive,
    });
    try {
      const server = await serve(tasks.handler, {
        port,
        hostname,
        signals,
        gracePeriod: gracePeriod + respondingTime,
        // A step takes as long as a model does; the sending of a request does not.
        requestTimeout: 300_000,
        reportError,
      });
      const running = stopTogether(server, { gracePeriod, signals, tasks, closeStore });
      const stop = (): void => void running.close();
      if (signal?.aborted === true) stop();
      else signal?.addEventListener("abort", stop, { once: true });
      return running;
    } catch (error) {
      await tasks.stop({ gracePeriod: 0 });
      throw error;
    }
  } catch (error) {
    await closeStore();
    throw error;
  }
}

/** Any stop of the server also stops the tasks, and closes the store behind both. */
function stopTogether(
  server: RunningServer,
  {
    gracePeriod,
    signals,
    tasks,
    closeStore,
  }: {
    readonly gracePeriod: number;
    readonly signals: boolean;
    readonly tasks: TaskHandler;
    readonly closeStore: () => Promise<void>;
  },
): RunningServer {
  const stopTasks = (): void => void tasks.stop({ gracePeriod });
  // The server itself stops on them too, but waits for responses that only come at the end of the
  // steps.
  const names = signals ? (["SIGTERM", "SIGINT"] as const) : [];
  for (const name of names) process.on(name, stopTasks);
  const finished = server.finished.then(async () => {
    for (const name of names) process.off(name, stopTasks);
    await tasks.stop({ gracePeriod: 0 });
    await closeStore();
  });
  const close: RunningServer["close"] = async (options = {}) => {
    const { gracePeriod: period = gracePeriod } = options;
    void tasks.stop({ gracePeriod: period });
    await server.close({ gracePeriod: period + respondingTime });
    await finished;
  };
  const { url, port, hostname } = server;
  return { url, port, hostname, finished, close, [Symbol.asyncDispose]: () => close() };
}

function hostOf(hostname: string): string {
  const host = hostname.includes(":") ? `[${hostname.replace(/^\[|\]$/g, "")}]` : hostname;
  return URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).host : host.toLowerCase();
}
