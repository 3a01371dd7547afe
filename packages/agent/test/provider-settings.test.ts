import { expect, it } from "vitest";
import { openAICompatible } from "../src/models/http-providers.ts";
import { createProvider, settingsFromEnvironment } from "../src/models/provider-settings.ts";

const url = "http://127.0.0.1:11434/v1";

it.each([
  [
    "a base URL",
    { FETCHWORK_BASE_URL: url, FETCHWORK_MODEL: "m" },
    { kind: "openai-compatible", baseUrl: url, apiKey: undefined, model: "m" },
  ],
  [
    "a base URL with its key",
    { FETCHWORK_BASE_URL: url, FETCHWORK_API_KEY: "k1" },
    { kind: "openai-compatible", baseUrl: url, apiKey: "k1", model: undefined },
  ],
  [
    "a base URL, without giving OpenAI's key to it",
    { FETCHWORK_BASE_URL: url, OPENAI_API_KEY: "k2" },
    { kind: "openai-compatible", baseUrl: url, apiKey: undefined, model: undefined },
  ],
  [
    "OpenAI's variables",
    { OPENAI_BASE_URL: url, OPENAI_API_KEY: "k2" },
    { kind: "openai-compatible", baseUrl: url, apiKey: "k2", model: undefined },
  ],
  [
    "OpenAI's key",
    { OPENAI_API_KEY: "k2", ANTHROPIC_API_KEY: "k3" },
    { kind: "openai", apiKey: "k2", model: undefined },
  ],
  [
    "Anthropic's key",
    { ANTHROPIC_API_KEY: "k3" },
    { kind: "anthropic", apiKey: "k3", baseUrl: undefined, model: undefined },
  ],
])("providerSettings reads %s", (_, env, settings) => {
  expect(settingsFromEnvironment(env)).toEqual(settings);
});

it("providerSettings names three ways when there is none", () => {
  expect(() => settingsFromEnvironment({ OPENAI_API_KEY: "" })).toThrow(
    expect.objectContaining({
      code: "ERR_AGENT_NO_PROVIDER",
      message: expect.stringMatching(
        /FETCHWORK_BASE_URL.*OPENAI_API_KEY or ANTHROPIC_API_KEY.*replay/,
      ),
    }),
  );
});

it.each(["ftp://x/v1", "nonsense", ""])("providerSettings refuses the base URL %j", (baseUrl) => {
  expect(() => openAICompatible({ baseUrl })).toThrow(/baseUrl/);
});

it("providerSettings refuses a kind that does not exist, and a key with a line break, without showing it", () => {
  // @ts-expect-error: no such kind
  expect(() => createProvider({ kind: "other" })).toThrow(/kind must be .*, got "other"/);
  const secret = "sk-1\r\nx: y";
  expect(() => createProvider({ kind: "openai", apiKey: secret })).toThrow(/^(?!.*sk-1).*apiKey/);
});
