import { Readable } from "node:stream";
import { describe, expect, it, vi } from "vitest";
import { askModel } from "../src/calls/ask-model.ts";
import { Budget } from "../src/calls/budget.ts";
import { AgentError } from "../src/errors.ts";
import type { ModelPart, ModelProvider } from "../src/models/model-provider.ts";

const question = { messages: [{ role: "user", content: "hello" }] } as const;
const parts: readonly ModelPart[] = [
  { type: "text", text: "an " },
  { type: "text", text: "answer" },
  { type: "usage", usage: { inputTokens: 3, outputTokens: 2 } },
  { type: "finish", reason: "stop" },
];

describe("a provider of one's own", () => {
  it.each<readonly [string, ModelProvider["generate"]]>([
    [
      "an asynchronous generator",
      async function* () {
        yield* parts;
      },
    ],
    [
      "a generator",
      function* () {
        yield* parts;
      },
    ],
    ["an array", () => parts],
    ["a stream of Node", () => Readable.from(parts)],
  ])("may answer with %s", async (_, generate) => {
    const { text, usage } = await askModel(question, { provider: { id: "own", generate } });
    expect(text).toBe("an answer");
    expect(usage).toEqual({ inputTokens: 3, outputTokens: 2, cost: null, calls: 1 });
  });

  it.each<readonly [string, () => never]>([
    ["what is not a function", () => (undefined as unknown as () => never)()],
    ["a field of nothing", () => (undefined as unknown as { a: never }).a],
    [
      "a name that is not there",
      () => {
        throw new ReferenceError("parts is not defined");
      },
    ],
  ])("is told of its mistake with %s at once, and not asked again", async (_, fail) => {
    let asked = 0;
    const generate = function* (): Generator<ModelPart> {
      asked += 1;
      yield fail();
    };
    const failing = askModel(question, { provider: { id: "own", generate } });
    await expect(failing).rejects.toMatchObject({
      code: "ERR_AGENT_PROVIDER",
      retryable: false,
      message: expect.stringMatching(/^the provider has a mistake: (?:Type|Reference)Error /),
      cause: expect.any(Error),
    });
    expect(asked).toBe(1);
  });

  it("is asked again after a connection that failed, which is a TypeError too", async () => {
    let asked = 0;
    const generate = function* (): Generator<ModelPart> {
      asked += 1;
      if (asked === 1)
        throw new TypeError("fetch failed", { cause: new Error("other side closed") });
      if (asked === 2) throw new TypeError("Failed to fetch");
      yield* parts;
    };
    const retry = { delay: 1 };
    await askModel(question, { provider: { id: "own", generate }, retry });
    expect(asked).toBe(3);
  });
});

it("askModel waits for a model that thinks for longer than it may be silent, and for no other", async () => {
  vi.useFakeTimers();
  try {
    const waiting = (thinks: boolean): ModelProvider["generate"] =>
      async function* () {
        for (let thought = 0; thought < 5; thought += 1) {
          await new Promise((resolve) => setTimeout(resolve, 900));
          if (thinks) yield { type: "thinking" };
        }
        yield* parts;
      };
    const ask = (generate: ModelProvider["generate"]): Promise<unknown> =>
      askModel(question, {
        provider: { id: "own", generate },
        idleTimeout: 1_000,
        retry: { attempts: 1 },
      }).then(
        ({ text }) => text,
        (error: unknown) => (error instanceof AgentError ? error.code : error),
      );
    const said = Promise.all([ask(waiting(true)), ask(waiting(false))]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await said).toEqual(["an answer", "ERR_AGENT_TIMEOUT"]);
  } finally {
    vi.useRealTimers();
  }
});

it.each([{ idleTimeout: 2 ** 31 }, { idleTimeout: 0 }, { retry: { delay: 2 ** 31 } }])(
  "askModel refuses %j, for which no timer of the platform waits, before it asks",
  async (options) => {
    const provider: ModelProvider = { id: "own", generate: () => expect.unreachable() };
    await expect(askModel(question, { provider, ...options })).rejects.toMatchObject({
      code: "ERR_AGENT_OPTION",
    });
  },
);

it("askModel passes on what a listener throws, asks nothing again, and counts what was used", async () => {
  let asked = 0;
  const generate = function* (): Generator<ModelPart> {
    asked += 1;
    yield* parts;
  };
  const budget = new Budget({ maxTokens: 100_000 });
  const full = new Error("the disk of the listener is full");
  const failing = askModel(question, {
    provider: { id: "own", generate },
    budget,
    onToken: () => {
      throw full;
    },
  });
  await expect(failing).rejects.toBe(full);
  expect(asked).toBe(1);
  expect(budget.usage.calls).toBe(1);
});
