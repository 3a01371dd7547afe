import type { BudgetOptions } from "../calls/budget.ts";
import { TaskInputError, type JsonObject } from "./task-agent.ts";

/** Check after the last file. */
export type VerifyLevel = "none" | "run" | "static";

/** Wishes of a task, within the limits of the server. */
export interface TaskOptions {
  readonly model: string | undefined;
  readonly concurrency: number;
  readonly verify: VerifyLevel;
  readonly repair: number;
  readonly limits: BudgetOptions;
}

/** Defaults for tasks that ask for nothing, and maximums for other tasks. */
export interface TaskDefaults {
  readonly concurrency: number;
  readonly verify: VerifyLevel;
  readonly repair: number;
  readonly limits: BudgetOptions;
  /** Whether there is something to run programs with. */
  readonly canRun: boolean;
}

/**
 * Reads `additional_input`: `model`, `concurrency`, `verify`, `repair`, `max_cost` and
 * `max_tokens`. A client can lower limits of the server and never raise them. Unknown fields are
 * skipped.
 *
 * @throws TaskInputError for a known key with an impossible value
 */
export function readTaskOptions(input: JsonObject, defaults: TaskDefaults): TaskOptions {
  const { concurrency, repair, limits, canRun } = defaults;
  const { model, verify = defaults.verify, max_cost: maxCost, max_tokens: maxTokens } = input;
  if (model !== undefined && !(typeof model === "string" && /^[!-~]{1,200}$/.test(model))) {
    throw new TaskInputError("additional_input.model must be the name of a model");
  }
  const level = verify === true ? "static" : verify === false ? "none" : verify;
  if (level !== "none" && level !== "static" && level !== "run") {
    throw new TaskInputError('additional_input.verify must be "none", "static" or "run"');
  }
  if (level === "run" && !canRun) {
    throw new TaskInputError("additional_input.verify is run, and this server runs no programs");
  }
  if (maxCost !== undefined && !(typeof maxCost === "number" && maxCost > 0)) {
    throw new TaskInputError("additional_input.max_cost must be a number of US dollars above 0");
  }
  return {
    model,
    concurrency: Math.min(wholeNumber(input, "concurrency", 1) ?? concurrency, concurrency),
    verify: level,
    repair: Math.min(wholeNumber(input, "repair", 0) ?? repair, repair),
    limits: {
      ...limits,
      maxCost: lower(limits.maxCost, maxCost),
      maxTokens: lower(limits.maxTokens, wholeNumber({ max_tokens: maxTokens }, "max_tokens", 1)),
    },
  };
}

function wholeNumber(input: JsonObject, name: string, from: number): number | undefined {
  const value = input[name];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= from) return value;
  throw new TaskInputError(`additional_input.${name} must be a whole number from ${from}`);
}

function lower(left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  return Math.min(left, right);
}
