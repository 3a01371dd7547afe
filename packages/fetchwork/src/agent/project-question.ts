import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Budget, type ProjectQuestionOptions } from "@fetchwork/agent";
import type { CommandIo } from "../command-io.ts";
import type { OptionValues } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { chooseModel, type modelOptions } from "./model-options.ts";
import { checkLimits, count, limitsOf, type limitOptions } from "./work-options.ts";

/** The option that limits what of a program is sent. */
export const contextOption = {
  "context-tokens": {
    type: "string",
    hint: "number",
    description: "Most tokens of the program in the question, by estimate (default: 100000)",
  },
} as const;

type QuestionValues = OptionValues<typeof contextOption> &
  OptionValues<typeof modelOptions> &
  OptionValues<typeof limitOptions>;

/**
 * The folder of a program.
 *
 * @throws UsageError when there is none
 */
export function programFolder(named: string, io: CommandIo): string {
  const folder = resolve(io.cwd, named);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new UsageError(`there is no folder ${JSON.stringify(named)}`);
  }
  return folder;
}

/** How many tokens of a program are sent, as an option says it. */
export function contextTokens(values: Pick<QuestionValues, "context-tokens">): number | undefined {
  return count("context-tokens", values["context-tokens"], 1e9);
}

/** How a model is asked about a program, as the options say it. */
export async function questionOf(
  values: QuestionValues,
  io: CommandIo,
): Promise<ProjectQuestionOptions> {
  const maxContextTokens = contextTokens(values);
  const limits = checkLimits(values);
  const { provider, model, temperature, modelName } = await chooseModel(values, io);
  const { budget, maxOutputTokens } = limitsOf(limits, [modelName]);
  const { signal } = io;
  return {
    provider,
    model,
    temperature,
    maxOutputTokens,
    budget: new Budget(budget),
    signal,
    maxContextTokens,
  };
}
