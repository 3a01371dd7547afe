import { Budget, type ModelCallOptions } from "@fetchwork/agent";
import type { CommandIo } from "../command/command-io.ts";
import type { OptionValues } from "../command/command.ts";
import { chooseModel, modelOptions } from "./model-options.ts";
import { requirePrompt } from "./read-prompt.ts";
import { checkLimits, limitOptions, limitsOf } from "./work-options.ts";

/** Options of commands that ask a model and change nothing. */
export const askOptions: typeof limitOptions & typeof modelOptions = {
  ...modelOptions,
  ...limitOptions,
};

/** Prompt for a model, with the options of the call. */
interface Call {
  readonly prompt: string;
  readonly options: ModelCallOptions;
}

/**
 * Reads the prompt and chooses the model, after the options were checked.
 *
 * @param what - Name of the prompt in the message when there is none.
 * @throws CommandUsageError as a rejection
 */
export async function callOptions(
  what: "error" | "prompt",
  argument: string | undefined,
  values: OptionValues<typeof askOptions> & { readonly prompt?: string | undefined },
  io: CommandIo,
): Promise<Call> {
  const limits = checkLimits(values);
  const prompt = await requirePrompt(what, argument, values, io);
  const chosen = await chooseModel(values, io, { run: { prompt } });
  const { provider, model, temperature, modelName } = chosen;
  const { budget, maxOutputTokens } = limitsOf(limits, [modelName]);
  const asked = { provider, model, temperature, maxOutputTokens, signal: io.signal };
  return { prompt, options: { ...asked, budget: new Budget(budget) } };
}
