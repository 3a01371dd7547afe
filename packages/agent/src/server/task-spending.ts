import type { Stored } from "@fetchwork/documents";
import {
  addAmount,
  noAmount,
  takeAmount,
  type Amount,
  type Spending,
  type Standing,
} from "../calls/spending.ts";
import { cancelled } from "../errors.ts";
import type { TaskChanger } from "./change-task.ts";
import type { TaskBus } from "./task-bus.ts";
import type { TaskRecord } from "./task-records.ts";

/** What the spending of a step is kept with. */
export interface TaskSpendingParts {
  readonly changer: TaskChanger;
  readonly bus: TaskBus;
  readonly taskId: string;
  readonly stepId: string;
  readonly reportError: (error: unknown) => void;
}

/** Milliseconds between two looks for what other servers gave back. */
const pollInterval = 250;

/** Keeps what a step spends with its task, so that the limits hold over all servers that run steps of it. */
export class TaskSpending implements Spending {
  readonly #parts: TaskSpendingParts;
  /** One change after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: TaskSpendingParts) {
    this.#parts = parts;
  }

  reserve(decide: (standing: Standing) => Amount | undefined): Promise<Amount | undefined> {
    const { stepId } = this.#parts;
    return this.#change((task) => {
      const amount = decide(standingOf(task));
      if (amount === undefined) return undefined;
      const held = addAmount(task.held?.[stepId] ?? noAmount, amount);
      return { task: { held: { ...task.held, [stepId]: held } }, value: amount };
    });
  }

  settle(reserved: Amount, used: Amount): void {
    const { stepId, reportError } = this.#parts;
    this.#change((task) => {
      const { [stepId]: amount = noAmount, ...others } = task.held ?? {};
      const left = takeAmount(amount, reserved);
      const held = left.tokens === 0 ? others : { ...others, [stepId]: left };
      return { task: { held, charged: addAmount(chargedOf(task), used) }, value: true };
    }).catch(reportError);
  }

  async changed(signal: AbortSignal): Promise<void> {
    const { bus, taskId } = this.#parts;
    await bus.changed(taskId, pollInterval, signal).catch(() => {
      throw cancelled(signal);
    });
  }

  /** Resolves when everything is written down. */
  async end(): Promise<void> {
    await this.#last;
  }

  #change<T>(
    work: (
      task: Stored<TaskRecord>,
    ) =>
      | { readonly task: Pick<Partial<TaskRecord>, "charged" | "held">; readonly value: T }
      | undefined,
  ): Promise<T | undefined> {
    const { changer, taskId } = this.#parts;
    const changed = this.#last.then(async () => {
      const done = await changer.change(
        taskId,
        (_tx, task) => {
          const change = work(task);
          return change && { ...change, events: [] };
        },
        { alsoCanceled: true },
      );
      return done?.value;
    });
    this.#last = changed.catch(() => undefined);
    return changed;
  }
}

/** Charges what a step had reserved when its server ended: nobody knows whether the bill for it comes. */
export function chargeHeld(
  task: TaskRecord,
  stepId: string,
): Pick<Partial<TaskRecord>, "charged" | "held"> {
  const { [stepId]: amount, ...held } = task.held ?? {};
  return amount === undefined ? {} : { held, charged: addAmount(chargedOf(task), amount) };
}

/** What a task has worked until now; `isWorked`: all the time since the last mark. */
export function workedUntilNow(
  { worked: { time, seen } = { time: 0, seen: 0 } }: TaskRecord,
  isWorked: boolean,
): { readonly worked: { readonly time: number; readonly seen: number } } {
  const now = Date.now();
  return { worked: { time: isWorked ? time + Math.max(0, now - seen) : time, seen: now } };
}

function standingOf(task: TaskRecord): Standing {
  const reserved = Object.values(task.held ?? {}).reduce(addAmount, noAmount);
  return { charged: chargedOf(task), reserved };
}

/** At least what was used: that is counted also while there are no limits. */
function chargedOf({ charged = noAmount, usage }: TaskRecord): Amount {
  const { inputTokens, outputTokens, cost } = usage;
  return {
    tokens: Math.max(charged.tokens, inputTokens + outputTokens),
    cost: Math.max(charged.cost, cost ?? 0),
  };
}
