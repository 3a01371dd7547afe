import {
  defaultVerifiers,
  type AgentOptions,
  type ConflictPolicy,
  type ModelPrice,
  type SandboxLevel,
  type TranscriptRun,
} from "@fetchwork/agent";
import type { OptionValues } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { wholeNumber } from "../whole-number.ts";
import type { ChosenModel } from "./model-options.ts";

/** Options of limits. */
export const limitOptions = {
  "max-tokens": {
    type: "string",
    hint: "number",
    description: "Most tokens of questions and answers",
  },
  "max-cost": { type: "string", hint: "dollars", description: "Most US dollars; needs --price" },
  price: {
    type: "string",
    hint: "in,out",
    multiple: true,
    description: "US dollars per million tokens; [model=]2.5,10; may repeat",
  },
  "max-time": { type: "string", hint: "time", description: "Longest time, as 90s, 10m or 1h" },
  "max-output-tokens": { type: "string", hint: "number", description: "Most tokens of an answer" },
} as const;

/** Options of runs that write files. */
export const workOptions = {
  "plan-model": {
    type: "string",
    hint: "name",
    description: "Model of plan and list of files (default: --model)",
  },
  "repair-model": {
    type: "string",
    hint: "name",
    description: "Model of repairs (default: --model)",
  },
  concurrency: {
    type: "string",
    short: "j",
    hint: "number",
    description: "Files that are written at the same time (default: 8)",
  },
  "max-files": { type: "string", hint: "number", description: "Most files (default: 1000)" },
  "max-file-bytes": {
    type: "string",
    hint: "number",
    description: "Most bytes of a file (default: 2 MiB)",
  },
  "max-total-bytes": {
    type: "string",
    hint: "number",
    description: "Most bytes of all files (default: 64 MiB)",
  },
  "on-conflict": {
    type: "string",
    hint: "policy",
    description: "For files that others changed: merge, keep, overwrite or fail (default: merge)",
  },
  verify: {
    type: "string",
    isTruth: true,
    description: "Run the program too: node --check, node --test, tsc; in a sandbox",
  },
  sandbox: {
    type: "string",
    hint: "level",
    description: "Least level of the sandbox: process or namespace (default: the best there is)",
  },
  repair: { type: "string", hint: "number", description: "Most rounds of repair (default: 2)" },
} as const;

type WorkValues = OptionValues<typeof workOptions> & OptionValues<typeof limitOptions>;

/** What a transcript keeps of these options, because questions depend on them. */
export function recordedWork(values: WorkValues): TranscriptRun {
  const { verify, repair, "plan-model": planModel, "repair-model": repairModel } = values;
  return {
    ...(verify !== undefined && { verify: verify === "true" }),
    ...(repair !== undefined && { repair: Number(repair) }),
    ...(planModel !== undefined && { planModel }),
    ...(repairModel !== undefined && { repairModel }),
  };
}

/**
 * The agent's options. What a replayed run was made with holds where nothing else is given.
 *
 * @throws UsageError for a value that is none
 */
export function agentOptions(values: WorkValues, chosen: ChosenModel): AgentOptions {
  const { provider, model, temperature, replayed } = chosen;
  const text = (name: string): string | undefined => {
    const value = replayed[name];
    return value === undefined ? undefined : String(value);
  };
  const planModel = values["plan-model"] ?? text("planModel");
  const repairModel = values["repair-model"] ?? text("repairModel");
  const verify = values.verify ?? text("verify");
  const models = [chosen.modelName, planModel, repairModel].filter((name) => name !== undefined);
  return {
    provider,
    model,
    planModel,
    repairModel,
    temperature,
    ...limits(values, models),
    concurrency: count("concurrency", values.concurrency, 256),
    maxFiles: count("max-files", values["max-files"], 100_000),
    maxFileBytes: count("max-file-bytes", values["max-file-bytes"], 2 ** 30),
    maxTotalBytes: count("max-total-bytes", values["max-total-bytes"], 2 ** 32),
    repair: count("repair", values.repair ?? text("repair"), 100, 0),
    verifiers: verify === "true" ? defaultVerifiers() : undefined,
    sandbox: { level: sandboxLevel(values.sandbox) },
    onConflict: conflictPolicy(values["on-conflict"]),
  };
}

/**
 * The limits of calls.
 *
 * @throws UsageError for a value that is none, and for a limit of money without prices
 */
export function limits(
  values: OptionValues<typeof limitOptions>,
  models: readonly string[],
): Pick<AgentOptions, "budget" | "maxOutputTokens"> {
  const maxCost = dollars("max-cost", values["max-cost"]);
  const prices = pricesOf(values.price ?? [], models);
  const unknown = models.find((model) => !Object.hasOwn(prices, model));
  if (maxCost !== undefined && unknown !== undefined) {
    throw new UsageError(`--max-cost needs the price of ${unknown}: --price in,out`);
  }
  const maxTokens = count("max-tokens", values["max-tokens"], 1e12);
  const maxTime = milliseconds(values["max-time"]);
  const maxOutputTokens = count("max-output-tokens", values["max-output-tokens"], 1e9);
  return { maxOutputTokens, budget: { maxTokens, maxCost, maxTime, prices } };
}

function pricesOf(
  given: readonly string[],
  models: readonly string[],
): Readonly<Record<string, ModelPrice>> {
  const prices = new Map<string, ModelPrice>();
  for (const text of given) {
    // Names of models may have an equals sign; numbers have none.
    const parts = /^(?:(.+)=)?([\d.]+),([\d.]+)$/.exec(text);
    const [, model, input, output] = parts ?? [];
    const price = { input: Number(input), output: Number(output) };
    if (parts === null || !Number.isFinite(price.input + price.output)) {
      throw new UsageError(`--price is ${JSON.stringify(text)}, expected [model=]in,out`);
    }
    for (const name of model === undefined ? models : [model]) prices.set(name, price);
  }
  return Object.fromEntries(prices);
}

function dollars(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d*\.?\d+$/.test(value) && number > 0) return number;
  throw new UsageError(`--${name} must be an amount of US dollars above 0, as 0.50`);
}

const units: ReadonlyMap<string, number> = new Map([
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

function milliseconds(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, number, unit = "s"] = /^(\d{1,6}(?:\.\d{1,3})?)([smh])?$/.exec(value) ?? [];
  const time = Math.round(Number(number) * (units.get(unit) ?? Number.NaN));
  // The longest time that a timer takes.
  if (time >= 1 && time < 2 ** 31) return time;
  throw new UsageError("--max-time must be a time, as 90s, 10m or 1h, at most 24 days");
}

export function count(
  name: string,
  value: string | undefined,
  most: number,
  least = 1,
): number | undefined {
  return value === undefined ? undefined : wholeNumber(name, value, most, least);
}

function sandboxLevel(value: string | undefined): SandboxLevel | undefined {
  if (value === undefined || value === "process" || value === "namespace") return value;
  throw new UsageError("--sandbox is none of process, namespace");
}

function conflictPolicy(value: string | undefined): ConflictPolicy | undefined {
  switch (value) {
    case undefined:
    case "merge":
    case "keep":
    case "overwrite":
    case "fail":
      return value;
    default:
      throw new UsageError("--on-conflict is none of merge, keep, overwrite, fail");
  }
}
