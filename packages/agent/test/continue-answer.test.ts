import { afterEach, describe, expect, it } from "vitest";
import { processorTime } from "../../kit/test/processor-time.ts";
import { askModel } from "../src/calls/ask-model.ts";
import { Budget } from "../src/calls/budget.ts";
import { joinTexts } from "../src/calls/continue-answer.ts";
import { generateCode } from "../src/calls/generate-code.ts";
import { anthropic, openAICompatible } from "../src/models/http-providers.ts";
import type { ModelProvider } from "../src/models/model-provider.ts";
import { startModelServer, type ModelServer, type ScriptedAnswer } from "./model-server.ts";

const half = "export const first = 1;\nexport const sec";
const rest = "ond = 2;\n";
const cut = { kind: "length" } as const;
const goOn = "Go on exactly where it ends";
let server: ModelServer;
afterEach(() => server?.close());

const providers: readonly (readonly [string, (baseUrl: string) => ModelProvider])[] = [
  ["openAICompatible", (baseUrl) => openAICompatible({ baseUrl, model: "scripted" })],
  ["anthropic", (baseUrl) => anthropic({ baseUrl, apiKey: "test-key-1", model: "scripted" })],
];

async function start(answers: readonly ScriptedAnswer[], [, make] = providers[0] ?? fail()) {
  server = await startModelServer({ answers });
  return make(server.baseUrl);
}

function fail(): never {
  throw new Error("there is no provider");
}

describe("an answer that was cut at the limit of tokens", () => {
  it.each(providers)("is continued in the same conversation by %s", async (name, make) => {
    const script = [
      { text: half, fault: cut, times: 1 },
      { match: [half, goOn], text: rest },
    ];
    const provider = await start(script, [name, make]);
    const budget = new Budget();
    const heard: string[] = [];
    const onToken = (text: string): unknown => heard.push(text);
    const code = await generateCode("p", "d", "a.js", { provider, budget, onToken });
    expect(code).toBe(half + rest);
    expect(heard.join("")).toBe(half + rest);
    expect(server.requests.map(({ tool }) => tool)).toEqual(["write_file", undefined]);
    expect(budget.usage.calls).toBe(2);
  });

  it("is continued three times, and then an error", async () => {
    const provider = await start([{ text: half, fault: cut }]);
    const asking = generateCode("p", "d", "a.js", { provider });
    await expect(asking).rejects.toMatchObject({ code: "ERR_AGENT_TRUNCATED" });
    expect(server.requests).toHaveLength(4);
  });

  it("is not continued when the budget was the limit", async () => {
    const provider = await start([{ text: half, fault: cut }]);
    const budget = new Budget({ maxTokens: 600 });
    const messages = [{ role: "user" as const, content: "p" }];
    const options = { provider, budget, maxOutputTokens: 1_000 };
    await expect(askModel({ messages }, options)).rejects.toMatchObject({
      code: "ERR_AGENT_BUDGET",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("is asked for as text when it was a call, of which no half is used", async () => {
    const provider = await start([
      { tool: "write_file", arguments: { content: "half = 1;\n" }, fault: cut },
      { tool: null, text: half, fault: cut, times: 1 },
      { tool: null, text: rest },
    ]);
    expect(await generateCode("p", "d", "a.js", { provider })).toBe(half + rest);
    expect(await generateCode("p", "d", "b.js", { provider })).toBe(rest);
    // The next file is asked for by a call again.
    expect(server.requests.map(({ tool }) => tool)).toEqual([
      "write_file",
      undefined,
      undefined,
      "write_file",
      undefined,
    ]);
  });
});

it.each([
  ["goes on in the middle of a word", "const a", "nswer = 1;", "const answer = 1;"],
  [
    "repeats the line that was cut",
    "let a;\nconst answer = comp",
    "const answer = compute();\n",
    "let a;\nconst answer = compute();\n",
  ],
  [
    "repeats several lines",
    "line number 8\nline number 9\nline",
    "line number 8\nline number 9\nline number 10\n",
    "line number 8\nline number 9\nline number 10\n",
  ],
  [
    "goes on with the same rows",
    "[0, 0, 0, 0, 0, 0],\n[0, 0, 0, 0, 0, 0],\n",
    "[0, 0, 0, 0, 0, 0],\n];\n",
    "[0, 0, 0, 0, 0, 0],\n[0, 0, 0, 0, 0, 0],\n[0, 0, 0, 0, 0, 0],\n];\n",
  ],
  ["has the same brackets", "  }\n}\n", "}\n", "  }\n}\n}\n"],
  [
    "opens the fence again",
    "```js\nlet a;\n",
    "```js\nlet b;\n```\n",
    "```js\nlet a;\nlet b;\n```\n",
  ],
  ["closes the fence", "```js\nlet a;\n", "```\n", "```js\nlet a;\n```\n"],
  ["is empty", "let a;\n", "", "let a;\n"],
])("a continuation that %s is joined without loss or repetition", (_, before, after, whole) => {
  expect(joinTexts(before, after)).toBe(whole);
});

it.each([
  ["ends with a row", "", 20_000],
  ["ends in another line", "and so on", 20_000],
])("a text of the same rows that %s is continued at once", { timeout: 60_000 }, (_, end, rows) => {
  const row = "| 0 | 0 |\n";
  const before = row.repeat(rows * 2) + end;
  const from = processorTime();
  expect(joinTexts(before, row.repeat(rows))).toMatch(/^(?:\| 0 \| 0 \|\n)+/);
  expect(processorTime(from)).toBeLessThan(1_000);
});
