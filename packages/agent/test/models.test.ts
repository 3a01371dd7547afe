import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import { afterEach, describe, expect, it } from "vitest";
import { askModel } from "../src/calls/ask-model.ts";
import { Budget } from "../src/calls/budget.ts";
import { generateCode } from "../src/calls/generate-code.ts";
import { plan } from "../src/calls/plan.ts";
import { specifyFilePaths } from "../src/calls/specify-file-paths.ts";
import { AgentError } from "../src/errors.ts";
import { planProject } from "../src/run/plan-project.ts";
import { fromAiSdk } from "../src/models/from-ai-sdk.ts";
import { anthropic, openAI, openAICompatible } from "../src/models/http-providers.ts";
import type { ModelProvider } from "../src/models/model-provider.ts";
import {
  startModelServer,
  type Fault,
  type ModelServer,
  type ScriptedAnswer,
} from "./model-server.ts";

const source = "export const answer = 42;\nexport const text = 'grüße, 世界 🌍';\n";
const quick = { delay: 1 };
let server: ModelServer;
afterEach(() => server.close());

type Make = (baseUrl: string) => ModelProvider;
const providers: readonly (readonly [string, Make])[] = [
  ["openAICompatible", (baseUrl) => openAICompatible({ baseUrl, model: "scripted" })],
  ["openAI", (baseUrl) => openAI({ baseUrl, apiKey: "test-key-1", model: "scripted" })],
  ["anthropic", (baseUrl) => anthropic({ baseUrl, apiKey: "test-key-1", model: "scripted" })],
  ["fromAiSdk", olderModel],
];

function olderModel(baseURL: string): ModelProvider {
  const openai = createOpenAI({ baseURL, apiKey: "test-key-1" });
  const make = (name: string): LanguageModel => {
    return asOlder(openai.chat(name));
  };
  return fromAiSdk(make, { id: "openai", defaultModel: "scripted" });
}

type CurrentModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

function asOlder(model: CurrentModel): Exclude<LanguageModel, string> {
  const { provider, modelId, supportedUrls } = model;
  // Its parts are the same; the SDK adapts whatever says that it is older.
  return {
    specificationVersion: "v3",
    provider,
    modelId,
    supportedUrls,
    doGenerate: model.doGenerate.bind(model),
    doStream: model.doStream.bind(model),
  } as Exclude<LanguageModel, string>;
}

async function failure(promise: Promise<unknown>): Promise<AgentError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AgentError)) throw new Error("no AgentError", { cause: error });
  return error;
}

describe.each(providers)("%s", (name, make) => {
  const start = async (
    answers: readonly ScriptedAnswer[],
    byteWise = false,
  ): Promise<ModelProvider> => {
    server = await startModelServer({ answers, byteWise });
    return make(server.baseUrl);
  };

  it("returns the text, the pieces and the tokens of an answer", async () => {
    const provider = await start([{ text: source }]);
    const pieces: string[] = [];
    const budget = new Budget();
    const question = { messages: [{ role: "user", content: "hello" }] } as const;
    const answer = await askModel(question, {
      provider,
      budget,
      onToken: (piece) => pieces.push(piece),
    });
    expect(answer.text).toBe(source);
    expect(pieces.join("")).toBe(source);
    expect(pieces.length).toBeGreaterThan(1);
    expect(answer.usage).toEqual({
      inputTokens: 2,
      outputTokens: Math.ceil(source.length / 4),
      cost: null,
      calls: 1,
    });
    expect(budget.usage).toEqual(answer.usage);
  });

  it("sends messages of one role that follow each other as one", async () => {
    const provider = await start([{ text: "ok" }]);
    const roles = ["system", "user", "user", "assistant", "assistant", "user"] as const;
    const messages = roles.map((role, index) => ({ role, content: `${index}` }));
    await askModel({ messages }, { provider });
    expect(server.requests[0]?.messages).toEqual(["0", "1\n\n2", "3\n\n4", "5"]);
  });

  it("puts together an answer that comes byte by byte", async () => {
    const provider = await start([{ text: source }], true);
    expect(await generateCode("p", "d", "a.js", { provider })).toBe(source);
  });

  it("lists files by a tool call", async () => {
    const provider = await start([
      { tool: "project_files", arguments: { files: ["./index.html", "src/a.js", "src/a.js"] } },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["index.html", "src/a.js"]);
  });

  it.each<readonly [string, string, ScriptedAnswer]>([
    ["app/__init__.py", "no text", { fault: { kind: "empty" } }],
    ["src/app/py.typed", "blank lines", { text: "\n\n" }],
    [".gitkeep", "an empty fence", { text: "```\n```" }],
    ["__init__.py", "thoughts alone", { text: "<think>\nIt marks a package.\n</think>\n" }],
  ])("makes an empty %s of %s", async (path, _, answer) => {
    const provider = await start([answer]);
    expect(await generateCode("p", "d", path, { provider, retry: quick })).toBe("");
    expect(server.requests).toHaveLength(1);
  });

  it.each<readonly [string, Fault]>([
    ["cut at its limit", { kind: "length" }],
    ["refused", { kind: "content-filter" }],
    ["not ended", { kind: "truncate", after: 1 }],
  ])("makes no empty file of an answer without text that was %s", async (_, fault) => {
    const provider = await start([{ text: "", fault }]);
    const asked = { provider, retry: { attempts: 1 } };
    const { code } = await failure(generateCode("p", "d", "app/__init__.py", asked));
    expect(code).toMatch(/^ERR_AGENT_(?:TRUNCATED|REFUSED|PROVIDER)$/);
  });

  it("makes no empty file of thoughts that do not end", async () => {
    const provider = await start([{ text: "<think>\nlet me see" }]);
    const asked = { provider, retry: quick };
    const { code } = await failure(generateCode("p", "d", "app/__init__.py", asked));
    expect(code).toBe("ERR_AGENT_UNUSABLE");
  });

  it("leaves folders out of a list of files", async () => {
    const files = ["src/", "src/a.js", ' "tests/" '];
    const listed = files.map((path) => ({ path, purpose: "", dependsOn: ["src/"], exports: [] }));
    const provider = await start([
      { tool: "project_files", arguments: { files }, times: 1 },
      { tool: "project_files", arguments: { files: listed } },
      { text: "# Plan" },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["src/a.js"]);
    const planned = await planProject("p", { provider });
    expect(planned.files).toMatchObject([{ path: "src/a.js", dependsOn: [] }]);
    expect(server.requests).toHaveLength(3);
  });

  it("asks once more after a list of nothing but folders", async () => {
    const provider = await start([
      { tool: "project_files", arguments: { files: ["src/"] }, times: 1 },
      { match: ["not a list of files"], arguments: { files: ["src/a.js"] } },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["src/a.js"]);
  });

  it("reads every call of the tool in an answer", async () => {
    const provider = await start([
      {
        tool: "project_files",
        arguments: { files: ["a.js", "b.js"] },
        calls: [{ name: "project_files", arguments: { files: ["b.js", "c.js"] } }],
      },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["a.js", "b.js", "c.js"]);
    expect(server.requests).toHaveLength(1);
  });

  it("asks again when an answer calls a tool of another name", async () => {
    const provider = await start([
      {
        tool: "project_files",
        calls: [{ name: "create_files", arguments: { files: ["other.js"] } }],
        times: 1,
      },
      { match: ['calls the tool "create_files"'], arguments: { files: ["a.js"] } },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["a.js"]);
    expect(server.requests).toHaveLength(2);
  });

  it.each<readonly [string, Fault, number]>([
    ["429 with seconds", { kind: "status", status: 429, headers: { "retry-after": "0" } }, 2],
    [
      "429 with a date",
      { kind: "status", status: 429, headers: { "retry-after": new Date(0).toUTCString() } },
      2,
    ],
    [
      "429 with milliseconds",
      { kind: "status", status: 429, headers: { "retry-after-ms": "3" } },
      2,
    ],
    ["429 without a time", { kind: "status", status: 429 }, 2],
    ["408", { kind: "status", status: 408 }, 2],
    ["500", { kind: "status", status: 500 }, 2],
    ["502", { kind: "status", status: 502 }, 2],
    ["503", { kind: "status", status: 503, headers: { "retry-after": "0" } }, 2],
    ["529", { kind: "status", status: 529 }, 2],
    ["a reset in the middle", { kind: "reset" }, 2],
    ["a stream that ends in the middle", { kind: "truncate" }, 2],
    ["a piece that is not JSON", { kind: "corrupt-chunk" }, 2],
    ["an error in the middle", { kind: "error-chunk" }, 2],
    ["a page instead of an answer", { kind: "garbage" }, 2],
    ["an empty answer", { kind: "empty" }, 2],
  ])("asks again after %s", async (_, fault, requests) => {
    const provider = await start([{ text: source, fault, times: 1 }, { text: source }]);
    const notices: string[] = [];
    const onRetry = ({ error }: { readonly error: AgentError }): unknown =>
      notices.push(error.code);
    expect(await generateCode("p", "d", "a.js", { provider, retry: quick, onRetry })).toBe(source);
    expect(server.requests).toHaveLength(requests);
    expect(notices).toHaveLength(1);
  });

  it.each<readonly [string, Fault, string]>([
    ["a refusal", { kind: "refusal" }, "ERR_AGENT_REFUSED"],
    ["a content filter", { kind: "content-filter" }, "ERR_AGENT_REFUSED"],
    [
      "401",
      { kind: "status", status: 401, body: { error: { message: "Incorrect key test-key-1" } } },
      "ERR_AGENT_AUTH",
    ],
    ["403", { kind: "status", status: 403 }, "ERR_AGENT_AUTH"],
    ["400", { kind: "status", status: 400 }, "ERR_AGENT_PROVIDER"],
    [
      "a context overflow",
      {
        kind: "status",
        status: 400,
        body: { error: { message: "prompt is too long", code: "context_length_exceeded" } },
      },
      "ERR_AGENT_CONTEXT_OVERFLOW",
    ],
    [
      "a spent account",
      {
        kind: "status",
        status: 429,
        body: { error: { message: "x", code: "insufficient_quota" } },
      },
      "ERR_AGENT_RATE_LIMITED",
    ],
    [
      "a Retry-After of a day",
      { kind: "status", status: 429, headers: { "retry-after": "86400" } },
      "ERR_AGENT_RATE_LIMITED",
    ],
  ])("does not make a file of %s, and does not ask again", async (_, fault, code) => {
    const provider = await start([{ text: source, fault }]);
    const error = await failure(generateCode("p", "d", "a.js", { provider, retry: quick }));
    expect(error.code).toBe(code);
    expect(error.message).not.toContain("test-key-1");
    // A server that knows no tools says 400: then text is asked for.
    expect(server.requests).toHaveLength(code === "ERR_AGENT_PROVIDER" ? 2 : 1);
  });

  it.each<readonly [string, Fault]>([
    ["streams that end early", { kind: "truncate" }],
    ["resets", { kind: "reset" }],
    ["garbage", { kind: "garbage" }],
    ["500", { kind: "status", status: 500 }],
    ["pieces that are no JSON", { kind: "corrupt-chunk" }],
  ])("gives up after %s without end", async (_, fault) => {
    const provider = await start([{ text: source, fault }]);
    const retry = { ...quick, attempts: 3 };
    await failure(generateCode("p", "d", "a.js", { provider, retry }));
    expect(server.requests).toHaveLength(3);
  });

  it("gives up on a server that is silent", async () => {
    const provider = await start([{ text: source, fault: { kind: "silence" } }]);
    const options = { provider, retry: { attempts: 1 }, idleTimeout: 50 };
    expect((await failure(plan("p", options))).code).toBe("ERR_AGENT_TIMEOUT");
  });

  it("ends with the caller's signal", async () => {
    const provider = await start([{ text: source, fault: { kind: "silence" } }]);
    const error = await failure(plan("p", { provider, signal: AbortSignal.timeout(50) }));
    expect(error.code).toBe("ERR_AGENT_TIMEOUT");
    const cancelled = AbortSignal.abort();
    expect((await failure(plan("p", { provider, signal: cancelled }))).code).toBe(
      "ERR_AGENT_CANCELLED",
    );
  });

  it.each<readonly [string, ScriptedAnswer]>([
    [
      "cut arguments",
      {
        tool: "project_files",
        arguments: { files: ["index.html"] },
        fault: { kind: "malformed-tool" },
      },
    ],
    [
      "text although a call was demanded",
      { tool: "project_files", text: "I would write index.html." },
    ],
    ["an empty object", { tool: "project_files", arguments: {} }],
    ["a list of other things", { tool: "project_files", arguments: { files: [1, 2] } }],
    ["a path that leads out", { tool: "project_files", arguments: { files: ["../index.html"] } }],
  ])("asks once more after %s", async (_, first) => {
    const files = { files: ["index.html"] };
    const provider = await start([
      { ...first, times: 1 },
      { match: ["could not be used"], arguments: files, text: JSON.stringify(files) },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["index.html"]);
    expect(server.requests).toHaveLength(2);
  });

  it("refuses a list that is wrong twice", async () => {
    const provider = await start([{ arguments: { files: ["/etc/passwd"] }, text: "no" }]);
    const error = await failure(specifyFilePaths("p", "d", { provider }));
    expect(error.code).toBe("ERR_AGENT_TOOL_OUTPUT");
    expect(server.requests).toHaveLength(2);
  });

  it("takes JSON text of a server that knows no tools", async () => {
    const provider = await start([
      {
        tool: "project_files",
        fault: {
          kind: "status",
          status: 400,
          body: { error: { message: "tools are not supported" } },
        },
      },
      { tool: null, match: ["JSON only"], text: 'Sure:\n```json\n{"files": ["a.js"]}\n```' },
    ]);
    expect(await specifyFilePaths("p", "d", { provider })).toEqual(["a.js"]);
  });

  it("writes a file again that leaves something out, has wrong syntax or is several", async () => {
    const provider = await start([
      { match: ["left out", "line 1"], text: source },
      { match: ["left out"], text: "let = ;" },
      { text: "const a = 1;\n// ... rest of the code" },
    ]);
    expect(await generateCode("p", "d", "a.js", { provider })).toBe(source);
    expect(server.requests).toHaveLength(3);
  });

  it("takes the content of a call exactly, and shows it while it comes", async () => {
    const content = 'const a = "\\n";\n// ```js\nconst b = "\u00e9";\n';
    const provider = await start([{ tool: "write_file", arguments: { content } }]);
    let shown = "";
    const onToken = (text: string): void => void (shown += text);
    expect(await generateCode("p", "d", "a.js", { provider, onToken })).toBe(content);
    expect(shown).toBe(content);
  });

  it("asks a server for text that refused a tool once, and for no tool again", async () => {
    const provider = await start([
      { tool: "write_file", fault: { kind: "status", status: 400 } },
      { tool: null, text: source },
    ]);
    for (const path of ["a.js", "b.js"]) {
      expect(await generateCode("p", "d", path, { provider })).toBe(source);
    }
    expect(server.requests.map(({ tool }) => tool)).toEqual(["write_file", undefined, undefined]);
  });

  it("never returns what stays unusable", async () => {
    const provider = await start([{ text: "```js\nconst a = 1;" }]);
    const error = await failure(generateCode("p", "d", "a.js", { provider }));
    expect([error.code, error.path]).toEqual(["ERR_AGENT_UNUSABLE", "a.js"]);
  });

  it(`names its model and key to the server${name === "openAICompatible" ? ", without a key none" : ""}`, async () => {
    const provider = await start([{ text: "ok" }]);
    await plan("p", { provider, model: "other" });
    const [request] = server.requests;
    expect(request?.model).toBe("other");
    const expected = {
      openAICompatible: undefined,
      openAI: "Bearer test-key-1",
      anthropic: "test-key-1",
      fromAiSdk: "Bearer test-key-1",
    };
    expect(request?.authorization).toBe(expected[name as keyof typeof expected]);
  });
});

it.each<readonly [string, Make]>([
  ["openAICompatible", (baseUrl) => openAICompatible({ baseUrl, model: "scripted" })],
  ["anthropic", (baseUrl) => anthropic({ baseUrl, apiKey: "test-key-1", model: "scripted" })],
  [
    "a model of an older interface",
    (baseURL) => fromAiSdk(asOlder(createOpenAICompatible({ baseURL, name: "x" })("scripted"))),
  ],
])("a provider reports that %s thinks, and has none of it in the answer", async (_, make) => {
  server = await startModelServer({
    answers: [{ text: source, thoughts: ["let ", "me ", "see"] }],
  });
  const provider = make(server.baseUrl);
  const request = { model: "scripted", messages: [{ role: "user", content: "x" }] } as const;
  const parts = await Array.fromAsync(provider.generate(request, new AbortController().signal));
  const types = parts.map(({ type }) => type);
  expect(types.filter((type) => type === "thinking").length).toBeGreaterThanOrEqual(3);
  expect(types.lastIndexOf("thinking")).toBeLessThan(types.indexOf("text"));
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  expect(text).toBe(source);
});

it("a provider takes arguments that a server sends as an object", async () => {
  server = await startModelServer({
    answers: [
      {
        tool: "project_files",
        arguments: { files: ["a.js"] },
        fault: { kind: "object-arguments" },
      },
      { tool: null, text: '{"files": ["a.js"]}' },
    ],
  });
  const provider = openAICompatible({ baseUrl: server.baseUrl });
  expect(await specifyFilePaths("p", "d", { provider, retry: { attempts: 1 } })).toEqual(["a.js"]);
});

it("a provider says that there is no server, and counts nothing as used", async () => {
  server = await startModelServer({ answers: [] });
  const { baseUrl } = server;
  await server.close();
  const budget = new Budget({ maxTokens: 20_000 });
  const options = {
    provider: openAICompatible({ baseUrl }),
    budget,
    retry: { ...quick, attempts: 3 },
  };
  const error = await failure(plan("p", options));
  expect([error.code, error.message]).toEqual([
    "ERR_AGENT_PROVIDER",
    "the model's server cannot be reached (ECONNREFUSED)",
  ]);
  expect(budget.usage).toEqual({ inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 });
});

it("a provider says what a wrong address is, and does not ask a redirect again", async () => {
  server = await startModelServer({
    answers: [
      {
        match: ["moved"],
        fault: { kind: "status", status: 301, headers: { location: "http://127.0.0.1:9/v1" } },
      },
      { match: ["absent"], fault: { kind: "status", status: 404, body: { detail: "Not Found" } } },
      {
        fault: {
          kind: "status",
          status: 404,
          body: { error: { message: 'model "m" not found,\n try pulling it' } },
        },
      },
    ],
  });
  const said = async (prompt: string, baseUrl = server.baseUrl): Promise<string> => {
    const provider = openAICompatible({ baseUrl });
    const budget = new Budget({ maxTokens: 20_000 });
    const { message } = await failure(plan(prompt, { provider, budget }));
    expect(budget.usage.calls).toBe(0);
    return message;
  };
  expect(await said("moved")).toBe(
    "the model's server answers with a redirect, which is not followed: give the base URL that it leads to",
  );
  expect(await said("absent")).toBe(
    "the model's server answered 404: its base URL may be wrong, many end in /v1",
  );
  expect(await said("model")).toBe(
    'the model\'s server answered 404: model "m" not found, try pulling it',
  );
  expect(await said("port", "http://127.0.0.1:1/v1")).toBe(
    "fetch refuses the port of the model's server",
  );
  expect(server.requests).toHaveLength(3);
});
