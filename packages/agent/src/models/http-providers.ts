import { checkOptions } from "../check-options.ts";
import { optionError } from "../errors.ts";
import { defaultAnthropicModel } from "./default-model.ts";
import { fromAiSdk } from "./from-ai-sdk.ts";
import type { ModelProvider } from "./model-provider.ts";

/** How to reach a model's server. */
export interface HttpProviderOptions {
  /** Its key. Default: what the environment names (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`). */
  readonly apiKey?: string | undefined;
  /** Its base URL. Default: the vendor's own. */
  readonly baseUrl?: string | undefined;
  /** The model that is asked when a call names none. Default: see `defaultModel`. */
  readonly model?: string | undefined;
}

/** How to reach a server that speaks OpenAI's protocol. */
export interface OpenAiCompatibleOptions extends HttpProviderOptions {
  /** Its base URL, with the version: `http://127.0.0.1:11434/v1` for Ollama. */
  readonly baseUrl: string;
}

/** Reaches OpenAI's models by Chat Completions. `@ai-sdk/openai` is loaded with the first call. */
export function openAI(options: HttpProviderOptions = {}): ModelProvider {
  const { model } = check("openAI", options);
  const chosen = async (name: string) => {
    const { createOpenAI } = await import("@ai-sdk/openai");
    return createOpenAI(connectionOf(options)).chat(name);
  };
  return fromAiSdk(chosen, { id: "openai", defaultModel: model });
}

/** Reaches Anthropic's models by Messages. `@ai-sdk/anthropic` is loaded with the first call. */
export function anthropic(options: HttpProviderOptions = {}): ModelProvider {
  const { model = defaultAnthropicModel } = check("anthropic", options);
  const chosen = async (name: string) => {
    const { createAnthropic } = await import("@ai-sdk/anthropic");
    return createAnthropic(connectionOf(options))(name);
  };
  return fromAiSdk(chosen, { id: "anthropic", defaultModel: model });
}

/**
 * Reaches any server that speaks OpenAI's Chat Completions: Ollama, llama.cpp's `llama-server`,
 * vLLM, LM Studio. `@ai-sdk/openai-compatible` is loaded with the first call. A key is sent only
 * when one is given.
 */
export function openAICompatible(options: OpenAiCompatibleOptions): ModelProvider {
  const { baseUrl, model } = check("openAICompatible", options);
  if (baseUrl === undefined) throw optionError("baseUrl", baseUrl, "an http(s) URL");
  const chosen = async (name: string) => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const server = { name: "compatible", baseURL: baseUrl, includeUsage: true };
    return createOpenAICompatible({ ...connectionOf(options), ...server }).chatModel(name);
  };
  return fromAiSdk(chosen, { id: `compatible:${new URL(baseUrl).host}`, defaultModel: model });
}

function check(name: string, options: HttpProviderOptions): HttpProviderOptions {
  checkOptions(name, options, ["apiKey", "baseUrl", "model"]);
  const { baseUrl, apiKey } = options;
  const url = baseUrl === undefined ? undefined : URL.parse(baseUrl);
  if (url === null || (url !== undefined && !/^https?:$/.test(url.protocol))) {
    throw optionError(`baseUrl of ${name}`, baseUrl, "an http(s) URL");
  }
  if (apiKey !== undefined && (typeof apiKey !== "string" || /[^\x21-\x7e]/.test(apiKey))) {
    throw optionError(`apiKey of ${name}`, typeof apiKey, "a key without blanks");
  }
  return options;
}

/** The settings that the providers of the SDK share. */
function connectionOf({ apiKey, baseUrl }: HttpProviderOptions) {
  return {
    fetch: strictFetch,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== undefined && { baseURL: baseUrl }),
  };
}

/** A redirect would carry prompts, and on the same origin the key, somewhere that nobody chose. */
function strictFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  return globalThis.fetch(input, { ...init, redirect: "error" });
}
