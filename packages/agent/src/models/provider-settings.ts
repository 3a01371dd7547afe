import { AgentError, optionError } from "../errors.ts";
import { anthropic, openAI, openAICompatible, type HttpProviderOptions } from "./http-providers.ts";
import type { ModelProvider } from "./model-provider.ts";

/** A provider as data, for where a function cannot go: a worker, a configuration file. */
export interface ProviderSettings extends HttpProviderOptions {
  /** Vendor of the server's protocol: `openai-compatible` needs its base URL. */
  readonly kind: "openai" | "anthropic" | "openai-compatible";
}

/** Names and values, as in `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Makes the provider that settings describe. */
export function createProvider(settings: ProviderSettings): ModelProvider {
  const { kind, baseUrl, ...rest } = settings;
  if (kind === "openai") return openAI({ baseUrl, ...rest });
  if (kind === "anthropic") return anthropic({ baseUrl, ...rest });
  if (kind !== "openai-compatible") {
    throw optionError("kind", kind, '"openai", "anthropic" or "openai-compatible"');
  }
  if (baseUrl === undefined) throw optionError("baseUrl", baseUrl, "an http(s) URL");
  return openAICompatible({ baseUrl, ...rest });
}

/**
 * The settings that an environment describes: `FETCHWORK_BASE_URL` or `OPENAI_BASE_URL` (any server
 * that speaks OpenAI's protocol, key in `FETCHWORK_API_KEY`, for the second also in
 * `OPENAI_API_KEY`), else `OPENAI_API_KEY`, else `ANTHROPIC_API_KEY`. `FETCHWORK_MODEL` names the
 * model.
 *
 * @throws AgentError `ERR_AGENT_NO_PROVIDER` that names the three ways, when there is none
 */
export function settingsFromEnvironment(env: Environment): ProviderSettings {
  const model = env["FETCHWORK_MODEL"] || undefined;
  const openAiKey = env["OPENAI_API_KEY"] || undefined;
  const ownUrl = env["FETCHWORK_BASE_URL"] || undefined;
  const baseUrl = ownUrl ?? (env["OPENAI_BASE_URL"] || undefined);
  if (baseUrl !== undefined) {
    // OpenAI's key goes only where OpenAI's own variable points.
    const fallbackKey = ownUrl === undefined ? openAiKey : undefined;
    const apiKey = env["FETCHWORK_API_KEY"] || fallbackKey;
    return { kind: "openai-compatible", baseUrl, apiKey, model };
  }
  if (openAiKey !== undefined) return { kind: "openai", apiKey: openAiKey, model };
  const anthropicKey = env["ANTHROPIC_API_KEY"] || undefined;
  if (anthropicKey !== undefined) {
    return { kind: "anthropic", apiKey: anthropicKey, baseUrl: env["ANTHROPIC_BASE_URL"], model };
  }
  throw new AgentError(
    "ERR_AGENT_NO_PROVIDER",
    "no model is configured: set FETCHWORK_BASE_URL to a server that speaks OpenAI's protocol (Ollama, llama.cpp, vLLM), or set OPENAI_API_KEY or ANTHROPIC_API_KEY, or replay a recorded run",
  );
}
