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
 * Makes records of new steps. Each can be run after those before it, however many are run at the
 * same time.
 *
 * @param index place of the first one in its task
 * @throws AgentUsageError `ERR_AGENT_OPTION` for two steps with one key, an unknown key, or steps
 * that wait for each other
 */
export function arrangeSteps(
  steps: readonly NewStep[],
  taskId: string,
  index: number,
): readonly ArrangedStep[] {
  const byKey = new Map<string, NewStep>();
  for (const step of steps) {
    const key = step.key ?? step.name;
    if (byKey.has(key)) throw wrong(`two steps have the key ${key}`);
    byKey.set(key, step);
  }
  const ordered = inOrder(byKey);
  const ids = new Map(ordered.map((key) => [key, makeId()]));
  const unblocks = new Map<string, string[]>();
  for (const key of ordered) {
    for (const needed of neededBy(byKey, key)) {
      const list = unblocks.get(needed) ?? [];
      list.push(ids.get(key) ?? "");
      unblocks.set(needed, list);
    }
  }
  return ordered.map((key, offset) => {
    const { name = key, data = {}, last = false } = byKey.get(key) ?? {};
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
      waiting: neededBy(byKey, key).size,
      unblocks: unblocks.get(key) ?? [],
      attempts: 0,
    };
    return { id: ids.get(key) ?? "", record };
  });
}

function neededBy(byKey: ReadonlyMap<string, NewStep>, key: string): ReadonlySet<string> {
  return new Set(byKey.get(key)?.after);
}

/** Keys, each behind those that it waits for, else as they were given. */
function inOrder(byKey: ReadonlyMap<string, NewStep>): readonly string[] {
  const left = new Map<string, number>();
  const waiters = new Map<string, string[]>();
  for (const key of byKey.keys()) {
    const needed = neededBy(byKey, key);
    left.set(key, needed.size);
    for (const other of needed) {
      if (!byKey.has(other)) throw wrong(`${key} waits for ${other}, which is not a step`);
      waiters.set(other, [...(waiters.get(other) ?? []), key]);
    }
  }
  const ready = [...byKey.keys()].filter((key) => left.get(key) === 0);
  for (const key of ready) {
    for (const waiter of waiters.get(key) ?? []) {
      const still = (left.get(waiter) ?? 0) - 1;
      left.set(waiter, still);
      if (still === 0) ready.push(waiter);
    }
  }
  if (ready.length < byKey.size) throw wrong("steps wait for each other");
  return ready;
}

function wrong(message: string): AgentUsageError {
  return new AgentUsageError("ERR_AGENT_OPTION", message);
}
