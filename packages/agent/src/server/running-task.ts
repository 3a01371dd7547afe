import {
  addAmount,
  addUsage,
  Budget,
  chargeOf,
  noAmount,
  takeAmount,
  type Amount,
  type BudgetOptions,
  type Usage,
} from "../calls/budget.ts";
import type { TaskRecord } from "./task-records.ts";

/** Usage of a step, as its task stores it. */
export interface StepUse {
  readonly usage: Usage;
  /** Amount that counts against the limits since another step of the task ended. */
  readonly charged: Amount;
  /** Milliseconds since then. */
  readonly time: number;
}

/** A task of which steps run in this process, and their budget: it counts what is stored, too. */
export class RunningTask {
  readonly steps: Set<AbortController> = new Set();
  readonly budget: Budget;
  #charged: Amount;
  #seen = performance.now();

  constructor({ usage, charged, worked }: TaskRecord, limits: BudgetOptions | undefined) {
    this.budget = new Budget(limits);
    const used = chargeOf(usage);
    const { tokens, cost } = charged ?? used;
    // A step whose lease was over stored nothing, also not what others were charged.
    const minimum = { tokens: Math.max(tokens, used.tokens), cost: Math.max(cost, used.cost) };
    this.budget.restore(usage, minimum, worked);
    this.#charged = this.budget.charged;
  }

  /** Use to store at the end of a step with this usage. */
  use(usage: Usage): StepUse {
    const charged = takeAmount(this.budget.charged, this.#charged);
    const now = performance.now();
    const time = Math.round(now - this.#seen);
    this.#charged = this.budget.charged;
    this.#seen = now;
    return { usage, charged, time };
  }
}

/** Use of a task, including that of a step that ended. */
export function withUse(
  task: TaskRecord,
  { usage, charged, time }: StepUse,
): Pick<TaskRecord, "charged" | "usage" | "worked"> {
  return {
    usage: addUsage(task.usage, usage),
    charged: addAmount(task.charged ?? noAmount, charged),
    worked: (task.worked ?? 0) + time,
  };
}
