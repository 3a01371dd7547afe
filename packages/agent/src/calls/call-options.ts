import { optionError } from "../errors.ts";
import type { ChatMessage, ModelProvider } from "../models/model-provider.ts";
import { createProvider, settingsFromEnvironment } from "../models/provider-settings.ts";
import type { AskOptions } from "./ask-model.ts";

/** How `plan`, `specifyFilePaths` and `generateCode` ask. */
export interface ModelCallOptions extends Omit<AskOptions, "provider"> {
  /** Reaches the model. Default: what the environment describes (`settingsFromEnvironment`). */
  readonly provider?: ModelProvider | undefined;
}

/** How `plan` asks. */
export interface PlanOptions extends ModelCallOptions {
  /** Messages after the prompt: answers to earlier questions, or a design. Default: none. */
  readonly extraMessages?: readonly ChatMessage[] | undefined;
}

/** Call options with a provider. The environment is read by the call, not at import. */
export function withProvider<T extends ModelCallOptions>(options: T): T & AskOptions {
  // oxlint-disable-next-line node/no-process-env -- the documented default
  const env = process.env;
  const { provider = createProvider(settingsFromEnvironment(env)) } = options;
  if (typeof provider.generate !== "function") {
    throw optionError("provider", provider, "a provider of models");
  }
  const { model = env["FETCHWORK_MODEL"] || undefined } = options;
  return options.provider === undefined
    ? { ...options, provider, model }
    : { ...options, provider };
}
