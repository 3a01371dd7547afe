import { AgentUsageError } from "../errors.ts";
import type { NewStep } from "./task-agent.ts";
import { taskId as makeId } from "./task-id.ts";
import type { StepRecord } from "./task-records.ts";

/** A step that is ready to be stored. */
export interface ArrangedStep {
  readonly id: string;
  readonly record: StepRecord;
}

/**
 * Makes records of new steps. Each can be run after those that it waits for, however many are run
 * at the same time.
 *
 * @param index place of the first one in its task
 * @throws AgentUsageError `ERR_AGENT_OPTION` for two steps with one key, and for a step that waits
 * for something else than a step before it
 */
export function arrangeSteps(
  steps: readonly NewStep[],
  taskId: string,
  index: number,
): readonly ArrangedStep[] {
  const unblocks = new Map<string, string[]>();
  return steps.map(({ name, key = name, after = [], data = {}, last = false }, offset) => {
    if (unblocks.has(key)) throw wrong(`two steps have the key ${key}`);
    const id = makeId();
    const needed = new Set(after);
    for (const other of needed) {
      const waiters = unblocks.get(other);
      if (waiters === undefined) throw wrong(`${key} waits for ${other}, no step before it`);
      waiters.push(id);
    }
    const waiters: string[] = [];
    unblocks.set(key, waiters);
    const record: StepRecord = {
      taskId,
      index: index + offset,
      name,
      data,
      status: "created",
      input: null,
      additionalInput: {},
      output: null,
      additionalOutput: {},
      artifacts: [],
      isLast: last,
      waiting: needed.size,
      unblocks: waiters,
      attempts: 0,
    };
    return { id, record };
  });
}

function wrong(message: string): AgentUsageError {
  return new AgentUsageError("ERR_AGENT_OPTION", message);
}
