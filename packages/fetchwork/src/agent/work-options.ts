import {
  commandCheck,
  defaultVerifiers,
  type AgentOptions,
  type ConflictPolicy,
  type ModelPrice,
  type SandboxOptions,
  type TranscriptRun,
  type Verifier,
} from "@fetchwork/agent";
import type { OptionValues } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { milliseconds } from "../command/milliseconds.ts";
import { count } from "../command/whole-number.ts";
import type { ChosenModel } from "./model-options.ts";

/** Options of limits. */
export const limitOptions = {
  "max-tokens": {
    type: "string",
    hint: "number",
    description: "Maximum tokens of requests and responses",
  },
  "max-cost": {
    type: "string",
    hint: "dollars",
    description: "Maximum cost in US dollars; requires --price",
  },
  price: {
    type: "string",
    hint: "in,out[,cached]",
    multiple: true,
    description:
      "US dollars per million input, output and cached input tokens, such as [model=]2.5,10,0.25; may be repeated",
  },
  "max-time": { type: "string", hint: "time", description: "Maximum time, such as 90s, 10m or 1h" },
  "max-output-tokens": {
    type: "string",
    hint: "number",
    description: "Maximum tokens of a response",
  },
} as const;

/**
 * Verifiers that run the program: the default ones and the given commands, if it is to be run or
 * there is a command.
 *
 * @throws AgentUsageError for an invalid command
 */
export function verifiersFor(
  isRun: boolean | undefined,
  commands: readonly string[] = [],
): readonly Verifier[] | undefined {
  const checks = commands.map((command) => commandCheck(command, { timeout: 600_000 }));
  return isRun === true || checks.length > 0 ? [...defaultVerifiers(), ...checks] : undefined;
}

/** Options of runs that change a program. */
export const editWorkOptions = {
  "max-files": {
    type: "string",
    hint: "number",
    description: "Maximum number of files (default: 1000)",
  },
  "max-file-bytes": {
    type: "string",
    hint: "number",
    description: "Maximum file size in bytes (default: 2 MiB)",
  },
  "max-total-bytes": {
    type: "string",
    hint: "number",
    description: "Maximum total size in bytes (default: 64 MiB)",
  },
  verify: {
    type: "string",
    isBoolean: true,
    description: "Also run the project's checks and tests in a sandbox",
  },
  check: {
    type: "string",
    hint: "command",
    multiple: true,
    description: "Also run this command in the sandbox, for at most 10 minutes; may be repeated",
  },
  packages: {
    type: "string",
    hint: "registry",
    valueIfNone: "https://registry.npmjs.org/",
    description:
      "Fetch the program's packages from this npm registry before it runs; their scripts run sealed (default without a URL: npm's)",
  },
  unsafe: {
    type: "boolean",
    description: "Run the program without the sandbox: it can do everything that you can",
  },
  repair: { type: "string", hint: "number", description: "Maximum rounds of repair (default: 2)" },
} as const;

/** Further options of runs that write one. */
const writeOptions = {
  "plan-model": {
    type: "string",
    hint: "name",
    description: "Model for the plan and the list of files (default: --model)",
  },
  "repair-model": {
    type: "string",
    hint: "name",
    description: "Model for repairs (default: --model)",
  },
  concurrency: {
    type: "string",
    short: "j",
    hint: "number",
    description: "Maximum files written at the same time (default: 8)",
  },
  "on-conflict": {
    type: "string",
    hint: "policy",
    description: "For files changed by others: merge, keep, overwrite or fail (default: merge)",
  },
} as const;

/** Options of runs that write files. */
export const workOptions: typeof editWorkOptions & typeof writeOptions = {
  ...writeOptions,
  ...editWorkOptions,
};

type WorkValues = OptionValues<typeof workOptions> & OptionValues<typeof limitOptions>;

/** The options that a transcript records, because requests depend on them. */
export function recordedWork(values: WorkValues): TranscriptRun {
  const { verify, repair, "plan-model": planModel, "repair-model": repairModel } = values;
  return {
    ...(verify !== undefined && { verify: verify === "true" }),
    ...(repair !== undefined && { repair: Number(repair) }),
    ...(planModel !== undefined && { planModel }),
    ...(repairModel !== undefined && { repairModel }),
  };
}

/** Options of runs, checked. */
interface CheckedWork {
  readonly values: WorkValues;
  readonly limits: CheckedLimits;
  /** Options that are known without a model. */
  readonly options: AgentOptions;
}

/** Options of the sandbox in which a program is run; `undefined` for the default. */
export function sandboxOptions({
  packages,
  unsafe,
}: Pick<OptionValues<typeof workOptions>, "packages" | "unsafe">): SandboxOptions | undefined {
  if (packages === undefined && unsafe !== true) return undefined;
  return {
    ...(unsafe === true && { level: "process" }),
    ...(packages !== undefined && { registry: packages }),
  };
}

/**
 * Checks options before a model is chosen.
 *
 * @throws CommandUsageError for an invalid value
 */
export function checkWork(values: WorkValues): CheckedWork {
  return {
    values,
    limits: checkLimits(values),
    options: {
      repair: repairRounds(values.repair),
      concurrency: count("concurrency", values.concurrency, 256),
      maxFiles: count("max-files", values["max-files"], 100_000),
      maxFileBytes: count("max-file-bytes", values["max-file-bytes"], 2 ** 30),
      maxTotalBytes: count("max-total-bytes", values["max-total-bytes"], 2 ** 32),
      sandbox: sandboxOptions(values),
      onConflict: conflictPolicy(values["on-conflict"]),
      verifiers: verifiersFor(false, values.check),
    },
  };
}

/**
 * Reads the agent's options. Options of a replayed run are the defaults.
 *
 * @throws CommandUsageError for a limit of money without the price of a model
 */
export function agentOptions(work: CheckedWork, chosen: ChosenModel): AgentOptions {
  const { provider, model, temperature, replayed } = chosen;
  const text = (name: string): string | undefined => {
    const value = replayed[name];
    return value === undefined ? undefined : String(value);
  };
  const { limits, options, values } = work;
  const {
    "plan-model": planModel = text("planModel"),
    "repair-model": repairModel = text("repairModel"),
    verify = text("verify"),
  } = values;
  const models = [chosen.modelName, planModel, repairModel].filter((name) => name !== undefined);
  return {
    ...options,
    ...limitsOf(limits, models),
    provider,
    model,
    planModel,
    repairModel,
    temperature,
    repair: options.repair ?? repairRounds(text("repair")),
    verifiers: verifiersFor(verify === "true", values.check),
  };
}

/** Limits of calls, checked. */
interface CheckedLimits {
  readonly maxOutputTokens: number | undefined;
  readonly maxTokens: number | undefined;
  readonly maxCost: number | undefined;
  readonly maxTime: number | undefined;
  /** In the given order: one without a model applies to all models; later ones override. */
  readonly prices: readonly (ModelPrice & { readonly model: string | undefined })[];
}

/**
 * Checks the limits of calls before a model is chosen.
 *
 * @throws CommandUsageError for an invalid value, and for a limit of money without any price
 */
export function checkLimits(values: OptionValues<typeof limitOptions>): CheckedLimits {
  const maxCost = dollars("max-cost", values["max-cost"]);
  const prices = (values.price ?? []).map(priceOf);
  if (maxCost !== undefined && prices.length === 0) {
    throw new CommandUsageError("--max-cost requires the price of the model: add --price in,out");
  }
  return {
    maxCost,
    prices,
    maxTokens: count("max-tokens", values["max-tokens"], 1e12),
    maxTime: milliseconds("max-time", values["max-time"]),
    maxOutputTokens: count("max-output-tokens", values["max-output-tokens"], 1e9),
  };
}

/**
 * The limits of calls to models.
 *
 * @throws CommandUsageError for a limit of money without the price of one of them
 */
export function limitsOf(
  { maxOutputTokens, maxTokens, maxCost, maxTime, prices: given }: CheckedLimits,
  models: readonly string[],
): Pick<AgentOptions, "budget" | "maxOutputTokens"> {
  const named = given.flatMap(({ model, ...price }) =>
    (model === undefined ? models : [model]).map((name) => [name, price] as const),
  );
  const prices = Object.fromEntries(named);
  const unknown = models.find((model) => !Object.hasOwn(prices, model));
  if (maxCost !== undefined && unknown !== undefined) {
    throw new CommandUsageError(`--max-cost requires the price of ${unknown}: add --price in,out`);
  }
  return { maxOutputTokens, budget: { maxTokens, maxCost, maxTime, prices } };
}

function priceOf(text: string): CheckedLimits["prices"][number] {
  // Names of models may have an equals sign; numbers have none.
  const parts = /^(?:(.+)=)?([\d.]+),([\d.]+)(?:,([\d.]+))?$/.exec(text);
  const [, model, input, output, cached = input] = parts ?? [];
  const price = { input: Number(input), output: Number(output), cachedInput: Number(cached) };
  if (parts !== null && Object.values(price).every(Number.isFinite)) return { model, ...price };
  const expected = "expected [model=]in,out[,cached]";
  throw new CommandUsageError(`invalid --price ${JSON.stringify(text)}: ${expected}`);
}

function dollars(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (/^\d*\.?\d+$/.test(value) && number > 0) return number;
  throw new CommandUsageError(`--${name} must be an amount of US dollars above 0, such as 0.50`);
}

function repairRounds(value: string | undefined): number | undefined {
  return count("repair", value, 100, 0);
}

const conflictPolicies: readonly ConflictPolicy[] = ["merge", "keep", "overwrite", "fail"];

function conflictPolicy(value: string | undefined): ConflictPolicy | undefined {
  const found = conflictPolicies.find((one) => one === value);
  if (found !== undefined || value === undefined) return found;
  throw new CommandUsageError(`--on-conflict must be one of ${conflictPolicies.join(", ")}`);
}
