import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  AgentError,
  createProvider,
  defaultModel,
  readTranscriptHead,
  recording,
  replaying,
  settingsFromEnvironment,
  type ModelProvider,
  type ProviderSettings,
  type TranscriptRun,
} from "@fetchwork/agent";
import type { CommandIo } from "../command/command-io.ts";
import type { OptionValues } from "../command/command.ts";
import { CommandUsageError } from "../command/usage-error.ts";

/** Options that select the model and its settings. */
export const modelOptions = {
  model: {
    type: "string",
    short: "m",
    hint: "name",
    description: "Model (default: FETCHWORK_MODEL, otherwise the provider's)",
  },
  provider: {
    type: "string",
    hint: "name",
    description: "openai, anthropic or openai-compatible (default: detected from the environment)",
  },
  "base-url": {
    type: "string",
    hint: "url",
    description: "Base URL of a server with OpenAI's protocol, such as http://127.0.0.1:11434/v1",
  },
  "api-key-env": {
    type: "string",
    hint: "variable",
    description: "Environment variable that contains the API key; keys are read from nowhere else",
  },
  temperature: {
    type: "string",
    hint: "number",
    description: "Temperature from 0 to 2 (default: the server's)",
  },
  record: {
    type: "string",
    hint: "file",
    description: "Record the model's responses in a new transcript file",
  },
  replay: {
    type: "string",
    hint: "file",
    description: "Replay a transcript instead of asking a model",
  },
} as const;

/** Values of `modelOptions` on the command line. */
export type ModelValues = OptionValues<typeof modelOptions>;

/** A provider and its settings. */
export interface ChosenModel {
  readonly provider: ModelProvider;
  /** Undefined: the provider's. */
  readonly model: string | undefined;
  readonly temperature: number | undefined;
  /** Name of the model that is asked when nothing else names one. */
  readonly modelName: string;
  /** The options that a replayed transcript recorded; `{}` without one. */
  readonly replayed: TranscriptRun;
}

/** Reads the options that a transcript recorded, so that its run can be repeated. */
export async function replayedRun(values: ModelValues, io: CommandIo): Promise<TranscriptRun> {
  const { replay } = values;
  return replay === undefined ? {} : (await readTranscriptHead(resolve(io.cwd, replay))).run;
}

/**
 * Finds the provider: a transcript, the options, or the environment.
 *
 * @throws CommandUsageError for options that make no sense together
 * @throws AgentError `ERR_AGENT_NO_PROVIDER` as a rejection, when there is none
 */
export async function chooseModel(
  values: ModelValues,
  io: CommandIo,
  {
    run = {},
    mayAppend = false,
  }: { readonly run?: TranscriptRun; readonly mayAppend?: boolean } = {},
): Promise<ChosenModel> {
  const { record, replay } = values;
  const replayed = await replayedRun(values, io);
  const temperature = temperatureOf(values.temperature ?? replayed["temperature"]);
  if (replay !== undefined) {
    const ignored = (["record", "provider", "base-url", "api-key-env"] as const).find(
      (name) => values[name] !== undefined,
    );
    if (ignored !== undefined)
      throw new CommandUsageError(`--replay and --${ignored} cannot be combined`);
    const named = values.model ?? (textOf(replayed["model"]) || io.env["FETCHWORK_MODEL"]);
    const model = named === "" ? undefined : named;
    const provider = replaying(resolve(io.cwd, replay));
    return { provider, model, temperature, modelName: model ?? defaultModel, replayed };
  }
  const file = record === undefined ? undefined : resolve(io.cwd, record);
  if (file !== undefined && !mayAppend && existsSync(file)) {
    throw new CommandUsageError(`the transcript ${JSON.stringify(record)} already exists`);
  }
  const reached = createProvider(settingsOf(values, io));
  const { model } = values;
  const modelName = model ?? reached.defaultModel ?? defaultModel;
  const shared = { model, temperature, modelName, replayed };
  if (file === undefined) return { provider: reached, ...shared };
  const about = { ...run, model: modelName, ...(temperature !== undefined && { temperature }) };
  return { provider: recording(reached, file, { run: about }), ...shared };
}

function settingsOf(values: ModelValues, io: CommandIo): ProviderSettings {
  const { provider, "base-url": baseUrl, "api-key-env": keyName } = values;
  checkUrl(baseUrl);
  if (provider === undefined && baseUrl === undefined) {
    const settings = settingsFromEnvironment(io.env);
    return keyName === undefined ? settings : { ...settings, apiKey: keyOf(keyName, io) };
  }
  const model = io.env["FETCHWORK_MODEL"] || undefined;
  if (provider === "openai" || provider === "anthropic") {
    const apiKey = keyOf(
      keyName ?? (provider === "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY"),
      io,
    );
    return { kind: provider, baseUrl, apiKey, model };
  }
  if (provider !== undefined && provider !== "openai-compatible") {
    throw new CommandUsageError("--provider must be one of openai, anthropic, openai-compatible");
  }
  const ownUrl = io.env["FETCHWORK_BASE_URL"] || undefined;
  const url = baseUrl ?? ownUrl;
  if (url === undefined)
    throw new CommandUsageError("--provider openai-compatible requires --base-url");
  // The key of one server is not sent to another one.
  const isOwn = ownUrl === undefined || URL.parse(ownUrl)?.origin === URL.parse(url)?.origin;
  const own = isOwn ? io.env["FETCHWORK_API_KEY"] || undefined : undefined;
  const apiKey = keyName === undefined ? own : keyOf(keyName, io);
  return { kind: "openai-compatible", baseUrl: url, apiKey, model };
}

function checkUrl(baseUrl: string | undefined): void {
  if (baseUrl === undefined) return;
  const url = URL.parse(baseUrl);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new CommandUsageError("--base-url must be an http or https URL");
  }
  if (url.username !== "" || url.password !== "") {
    throw new CommandUsageError(
      "--base-url must not contain a user name or password; keys come from --api-key-env",
    );
  }
}

function keyOf(name: string, io: CommandIo): string {
  const key = io.env[name] || undefined;
  if (key !== undefined) return key;
  throw new AgentError("ERR_AGENT_NO_PROVIDER", `the environment variable ${name} is not set`);
}

function temperatureOf(given: string | number | boolean | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = String(given);
  const number = Number(value);
  if (/^\d+(?:\.\d+)?$/.test(value) && number <= 2) return number;
  throw new CommandUsageError("--temperature must be a number from 0 to 2");
}

function textOf(value: string | number | boolean | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
