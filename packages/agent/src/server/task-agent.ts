import { FetchworkError } from "@fetchwork/kit";
import { AgentUsageError } from "../errors.ts";
import type { Budget, BudgetOptions, Usage } from "../calls/budget.ts";

/** Any JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A task, as an agent sees it. */
export interface AgentTask {
  readonly id: string;
  /** Work that is to be done, in words. */
  readonly input: string;
  /** Further input of the client; `{}` without any. */
  readonly additionalInput: JsonObject;
}

/** A step to do later. */
export interface NewStep {
  /** Shown to people. */
  readonly name: string;
  /** Tells steps of one list apart, for `after`. Default: its `name`. */
  readonly key?: string | undefined;
  /** Keys of steps before it in the list that have to be done before. Default: none. */
  readonly after?: readonly string[] | undefined;
  /** Data that the agent needs when the step is run; any JSON. Default: `{}`. */
  readonly data?: JsonObject | undefined;
  /** Whether it is the last of the task, as far as is known now. Default: `false`. */
  readonly last?: boolean | undefined;
}

/** A file of a task. */
export interface TaskFile {
  /** Relative path, with `/`. */
  readonly path: string;
  /** Whether the agent wrote it; else somebody uploaded it. */
  readonly agentCreated: boolean;
  /** In bytes. */
  readonly size: number;
  /** SHA-256 of the newest version, in hex. */
  readonly hash: string;
}

/** A step that is run now. */
export interface RunningStep {
  readonly task: AgentTask;
  readonly id: string;
  readonly name: string;
  /** Data that the agent stored with the step when it was planned. */
  readonly data: JsonObject;
  /** Input of the client for this step, now or before; `null` without any. */
  readonly input: string | null;
  /** Further input of the client for this step; `{}` without any. */
  readonly additionalInput: JsonObject;
  /** How often the step was begun, this time included. */
  readonly attempt: number;
  /** Aborts when the task is cancelled or deleted, and when the server stops. */
  readonly signal: AbortSignal;
  /** Budget of the task's steps that run in this process: `TaskAgent.limits`. */
  readonly budget: Budget;
  /** The files of the task, the newest version of each. */
  files(): Promise<readonly TaskFile[]>;
  /** Reads a file as text: its newest version, or that of a hash; undefined when there is none. */
  read(path: string, version?: { readonly hash: string }): Promise<string | undefined>;
  /** Counts what a call to a model used, for the task; pass it as `onUsage`. */
  spend(usage: Usage): void;
  /** Shows text to watchers while it is written. It is not kept. */
  stream(text: string): void;
}

/** Result of a step. */
export interface StepResult {
  /** Shown as the step's output. Default: none. */
  readonly output?: string | undefined;
  /** Structured output. Default: none. */
  readonly additionalOutput?: JsonObject | undefined;
  /** Files that it wrote, with checked paths; older versions are kept. Default: none. */
  readonly files?: readonly { readonly path: string; readonly content: string | Uint8Array }[];
  /**
   * Maximum bytes that the files of the task may have, these included; more fails the step with
   * `ERR_AGENT_LIMIT`, also where other steps write at the same time. Default: no limit.
   */
  readonly maxTotalBytes?: number | undefined;
  /** Steps that follow. Default: none. */
  readonly next?: readonly NewStep[] | undefined;
}

/** Runs the steps of tasks behind the task API. Everything between steps is in the store. */
export interface TaskAgent {
  /**
   * The first steps of a task.
   *
   * @throws TaskInputError for input that no step can work with; the client gets 422
   */
  onTask(task: Omit<AgentTask, "id">): readonly NewStep[];
  /** Runs one step. An error puts the step back: the client may run it again. */
  onStep(step: RunningStep): Promise<StepResult>;
  /** Steps that are added when a client wants more of a finished task. Default: none. */
  onContinue?(task: AgentTask, input: string): readonly NewStep[];
  /**
   * Limits for all steps of a task together. Each process applies the limits to the steps that run
   * there, and counts what was stored when these steps began. `maxTime` runs while steps do.
   * Default: no limits.
   */
  limits?(task: AgentTask): BudgetOptions;
  /** How many steps of a task run at the same time in one server, at most. Default: 8. */
  concurrency?(task: AgentTask): number;
}

/** The input of a client is invalid. The response has status 422 and the message. */
export class TaskInputError extends FetchworkError {
  override readonly name: string = "TaskInputError";
  declare readonly code: "ERR_AGENT_INPUT";

  constructor(message: string, options?: ErrorOptions) {
    super("ERR_AGENT_INPUT", message, options);
  }
}

/**
 * Checks an agent and returns it, typed.
 *
 * @example
 * ```ts
 * const echo = defineAgent({
 *   onTask: () => [{ name: "echo", last: true }],
 *   onStep: async ({ task }) => ({ output: task.input }),
 * });
 * ```
 * @throws AgentUsageError `ERR_AGENT_OPTION`
 */
export function defineAgent(agent: TaskAgent): TaskAgent {
  if (typeof agent?.onTask !== "function" || typeof agent.onStep !== "function") {
    throw new AgentUsageError(
      "ERR_AGENT_OPTION",
      "an agent is an object with the functions onTask and onStep",
    );
  }
  return agent;
}
