import { statSync } from "node:fs";
import { resolve } from "node:path";
import { Budget, type ProjectQuestionOptions } from "@fetchwork/agent";
import type { CommandIo } from "../command/command-io.ts";
import type { OptionValues } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { chooseModel, type modelOptions } from "./model-options.ts";
import { checkLimits, count, limitsOf, type limitOptions } from "./work-options.ts";

/** The option that limits what of a program is sent. */
export const contextOption = {
  "context-tokens": {
    type: "string",
    hint: "number",
    description: "Maximum tokens of source in the request, estimated (default: 100000)",
  },
} as const;

type QuestionValues = OptionValues<typeof contextOption> &
  OptionValues<typeof modelOptions> &
  OptionValues<typeof limitOptions>;

/**
 * The folder of a program.
 *
 * @throws CommandUsageError when there is none
 */
export function programFolder(named: string, io: CommandIo): string {
  const folder = resolve(io.cwd, named);
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new CommandUsageError(`the folder ${JSON.stringify(named)} does not exist`);
  }
  return folder;
}

/** Reads the maximum tokens of source from an option. */
export function contextTokens(values: Pick<QuestionValues, "context-tokens">): number | undefined {
  return count("context-tokens", values["context-tokens"], 1e9);
}

/** Reads from the options how a model is asked about a program. */
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
