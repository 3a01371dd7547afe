import { createHash } from "node:crypto";
import { isObject } from "@fetchwork/kit";
import type { LanguageModel } from "ai";
import type { Answer, Question, ToolCall } from "../calls/ask-model.ts";
import { askToTheEnd } from "../calls/continue-answer.ts";
import { AgentError } from "../errors.ts";
import type { ModelTool, ModelTurn, TurnPart } from "../models/model-provider.ts";
import { withoutPictures } from "./shown-pictures.ts";

/** The interface of a model that the loop of the AI SDK asks. */
export type SdkModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

type SdkQuestion = Parameters<SdkModel["doGenerate"]>[0];
type SdkAnswer = Awaited<ReturnType<SdkModel["doGenerate"]>>;

/** An answer that was paid, without what it cost. */
export type PaidAnswer = Pick<Answer, "text" | "toolCalls" | "thoughts" | "isCut">;

/** Parts that the model of a loop needs. */
export interface LoopModelParts {
  /** Name of the model. */
  readonly name: string;
  /** Asks the provider: within the budget, and again where that helps. A text may be cut. */
  readonly ask: (question: Question) => Promise<Answer>;
  /** Answers from before, by the hash of their question. */
  readonly answers: ReadonlyMap<string, PaidAnswer>;
  /** Keeps an answer before anything builds on it. */
  readonly keep: (key: string, answer: PaidAnswer) => Promise<void>;
}

/** Questions after the first one, where a call was cut at its limit of tokens. */
const cutAnswers = 2;

/** A model for the AI SDK's loop. No answer is paid twice: a repeated question is replayed. */
export function loopModel({ name, ask, answers, keep }: LoopModelParts): SdkModel {
  let takesPictures = true;
  const askSeeing = async (question: Question): Promise<Answer> => {
    const plain = withoutPictures(question);
    if (plain === question || !takesPictures) return askForLess(plain, ask);
    try {
      return await askForLess(question, ask);
    } catch (error) {
      const status = error instanceof AgentError ? error.status : undefined;
      if (status === undefined || ![400, 404, 415, 422].includes(status)) throw error;
    }
    const answer = await askForLess(plain, ask);
    takesPictures = false;
    return answer;
  };
  const answerTo = async (question: Question): Promise<PaidAnswer> => {
    const key = keyOf(name, question);
    const kept = answers.get(key);
    if (kept !== undefined) return kept;
    const { usage: _, ...asked } = await askSeeing(question);
    const answer = { ...asked, toolCalls: withoutRepeats(asked.toolCalls) };
    await keep(key, answer);
    return answer;
  };
  return {
    specificationVersion: "v4",
    provider: "fetchwork",
    modelId: name,
    supportedUrls: {},
    async doGenerate(asked) {
      const question = questionOf(asked);
      return sdkAnswerOf(keyOf(name, question), await askToTheEnd(question, answerTo));
    },
    doStream() {
      throw new AgentError("ERR_AGENT_PROVIDER", "the model of a loop has no stream");
    },
  };
}

/** Asks again where calls of an answer were cut, and tells the model to use several calls. */
async function askForLess(question: Question, ask: LoopModelParts["ask"]): Promise<Answer> {
  const { turns = [] } = question;
  const request =
    "Your last answer was longer than an answer may be, and is lost. Go on with a shorter one: write a long file with several calls, the first by `write`, the others by `edit`.";
  const again: ModelTurn = { role: "user", content: [{ type: "text", text: request }] };
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await ask(attempt === 0 ? question : { ...question, turns: [...turns, again] });
    } catch (error) {
      const isCut = error instanceof AgentError && error.code === "ERR_AGENT_TRUNCATED";
      if (!isCut || attempt === cutAnswers) throw error;
    }
  }
}

/** Some models make the same call several times. */
function withoutRepeats(calls: Answer["toolCalls"]): Answer["toolCalls"] {
  const isFirst = (call: ToolCall, index: number): boolean =>
    calls.findIndex((one) => one.name === call.name && one.arguments === call.arguments) === index;
  return calls.filter(isFirst);
}

function keyOf(name: string, question: Question): string {
  return createHash("sha256")
    .update(JSON.stringify([name, question]))
    .digest("hex");
}

/** A question as our calls have it: what was said first, what followed, and the tools. */
function questionOf({ prompt, tools = [] }: SdkQuestion): Question {
  const messages = prompt.flatMap(({ role, content }) =>
    role === "system" ? [{ role, content }] : [],
  );
  const turns = prompt.flatMap(({ role, content }): readonly ModelTurn[] =>
    role === "system" ? [] : [{ role, content: content.map((part) => part as TurnPart) }],
  );
  const offered = tools.flatMap((tool): readonly ModelTool[] => {
    if (tool.type !== "function") return [];
    const { name, description = "" } = tool;
    const schema: unknown = tool.inputSchema;
    // Every question pays for the tools, and no model needs the dialect of their schemas.
    const { $schema: _dialect, ...parameters } = isObject(schema) ? schema : {};
    return [{ name, description, parameters }];
  });
  return { messages, turns, tools: offered, mayBeEmpty: true };
}

/** An answer as the SDK has it. We rename its calls: some servers repeat or omit names. */
function sdkAnswerOf(key: string, { text, toolCalls, thoughts }: PaidAnswer): SdkAnswer {
  const content: SdkAnswer["content"] = [
    ...thoughts.map(({ text: thought, metadata }) => ({
      type: "reasoning" as const,
      text: thought,
      ...(metadata && { providerMetadata: metadata as Metadata }),
    })),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...toolCalls.map(({ name, arguments: input, metadata }, index) => ({
      type: "tool-call" as const,
      toolCallId: callIdOf(key, index),
      toolName: name,
      input: input === "" ? "{}" : input,
      ...(metadata && { providerMetadata: metadata as Metadata }),
    })),
  ];
  const unknown = undefined;
  return {
    content,
    finishReason: { unified: toolCalls.length > 0 ? "tool-calls" : "stop", raw: unknown },
    // Usage is counted where it is paid.
    usage: {
      inputTokens: { total: unknown, noCache: unknown, cacheRead: unknown, cacheWrite: unknown },
      outputTokens: { total: unknown, text: unknown, reasoning: unknown },
    },
    warnings: [],
  };
}

type Metadata = NonNullable<SdkAnswer["providerMetadata"]>;

/** Nine letters and digits, which is what the strictest servers take. */
function callIdOf(key: string, index: number): string {
  return createHash("sha256").update(`${key} ${index}`).digest("hex").slice(0, 9);
}
