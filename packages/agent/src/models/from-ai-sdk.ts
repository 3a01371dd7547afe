import { isObject } from "@fetchwork/kit";
import type { LanguageModel, LanguageModelUsage, ModelMessage, TextStreamPart, ToolSet } from "ai";
import { cancelled, optionError } from "../errors.ts";
import type {
  ChatMessage,
  FinishReason,
  ModelPart,
  ModelProvider,
  ModelRequest,
  ModelTool,
  ModelTurn,
} from "./model-provider.ts";
import { providerFailure } from "./provider-failure.ts";

/** Options of {@link fromAiSdk}. */
export interface FromAiSdkOptions {
  /** Short name for logs. Default: `ai-sdk`. */
  readonly id?: string | undefined;
  /** The model that is asked when a call names none. Default: the model's own name. */
  readonly defaultModel?: string | undefined;
}

/**
 * A model of the AI SDK, by its name or as an object. It is described here, and not by the
 * `LanguageModel` of `ai`. The declarations of `ai` fail in a strict project without the DOM
 * library.
 */
export type AiSdkLanguageModel =
  | string
  | {
      /** Version of the interface: `v2`, `v3` or `v4`. */
      readonly specificationVersion: string;
      readonly provider: string;
      readonly modelId: string;
      doStream(options: never): PromiseLike<unknown>;
    };

/** A model of the AI SDK, or a function that makes one for a name. */
export type AiSdkModel =
  AiSdkLanguageModel | ((name: string) => AiSdkLanguageModel | Promise<AiSdkLanguageModel>);

/**
 * Reaches a model of the Vercel AI SDK: one of versions 5 to 7, or the name of one. `ai` is loaded
 * with the first call. Its own repetitions are off: they do not know the budget.
 *
 * A refusal is recognised on the wire too (`refusal` of OpenAI, `stop_reason` of Anthropic). A
 * piece that cannot be read fails the call, and a stream that ends without a reason is cut.
 *
 * @throws AgentUsageError for a model that is not one of the SDK; of one that a function makes,
 * when it is asked
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): ModelProvider {
  const { id = "ai-sdk", defaultModel = nameOf(model) } = options;
  if (typeof model !== "function") checkModel(model);
  return {
    id,
    defaultModel,
    async *generate(request, signal) {
      const chosen = typeof model === "function" ? await model(request.model) : model;
      const messages = joinMessages(request.messages);
      yield* ask(checkModel(chosen), { ...request, messages }, signal);
    },
  };
}

/** Templates of some models (Mistral, Gemma) refuse two messages of one role in a row. */
function joinMessages(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const joined: ChatMessage[] = messages.filter(({ role }) => role === "system");
  for (const message of messages) {
    if (message.role === "system") continue;
    const last = joined.at(-1);
    if (last?.role !== message.role) joined.push(message);
    else joined[joined.length - 1] = { ...last, content: `${last.content}\n\n${message.content}` };
  }
  return joined;
}

function checkModel(model: AiSdkLanguageModel): LanguageModel {
  if (isModel(model)) return model;
  throw optionError("model of fromAiSdk", model, "a model of the AI SDK");
}

function isModel(model: AiSdkLanguageModel): model is LanguageModel {
  // A caller without types may pass anything.
  const version: unknown = Reflect.get(Object(model), "specificationVersion");
  return typeof model === "string" || (typeof version === "string" && /^v[234]$/.test(version));
}

function nameOf(model: AiSdkModel): string | undefined {
  if (typeof model === "string") return model;
  return typeof model === "object" ? model.modelId : undefined;
}

async function* ask(
  model: LanguageModel,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const names = new Map<string, string>();
  const streamed = new Set<string>();
  let refused = false;
  let textInstead = false;
  let reason: FinishReason | undefined;
  try {
    for await (const part of await streamOf(model, request, signal)) {
      if (part.type === "text-delta" && part.text !== "") {
        yield { type: "text", text: part.text };
      } else if (part.type.startsWith("reasoning-")) {
        yield thoughtOf(part);
      } else if (part.type === "tool-input-start") {
        names.set(part.id, part.toolName);
      } else if (part.type === "tool-input-delta") {
        streamed.add(part.id);
        yield { type: "tool", id: part.id, name: names.get(part.id) ?? "", delta: part.delta };
      } else if (part.type === "tool-call") {
        const { toolCallId: id, toolName: name, providerMetadata: metadata } = part;
        const delta = streamed.has(id) ? "" : argumentsText(part.input);
        yield { type: "tool", id, name, delta, metadata };
      } else if (part.type === "raw") {
        refused ||= saysRefusal(part.rawValue);
      } else if (part.type === "error" && isTextInstead(part.error)) {
        // Text that came is an answer all the same; the caller decides whether it will do.
        textInstead = true;
      } else if (part.type === "error") {
        throw providerFailure(part.error);
      } else if (part.type === "abort") {
        throw cancelled(signal);
      } else if (part.type === "finish-step") {
        const rawReason = textInstead ? (part.rawFinishReason ?? "") : part.finishReason;
        reason = refused ? "refusal" : (reasons.get(rawReason) ?? "unknown");
        yield* usageOf(part.usage);
      }
    }
  } catch (error) {
    if (signal.aborted) throw cancelled(signal);
    throw providerFailure(error);
  }
  if (signal.aborted) throw cancelled(signal);
  yield { type: "finish", reason: reason ?? "unknown" };
}

function thoughtOf(part: TextStreamPart<ToolSet>): ModelPart {
  if (part.type === "reasoning-delta") {
    return { type: "thinking", id: part.id, text: part.text, metadata: part.providerMetadata };
  }
  if (part.type !== "reasoning-start" && part.type !== "reasoning-end") return { type: "thinking" };
  return { type: "thinking", id: part.id, metadata: part.providerMetadata };
}

/** Asks through the SDK, which adapts models of older interfaces and finds those that are named. */
async function streamOf(model: LanguageModel, request: ModelRequest, signal: AbortSignal) {
  const sdk = await import("ai");
  // Its warnings go to the console of the program; a program that wants them says so before.
  globalThis.AI_SDK_LOG_WARNINGS ??= false;
  const { stream } = sdk.streamText({
    ...questionOf(request, sdk),
    model,
    maxRetries: 0,
    streamRetries: 0,
    abortSignal: signal,
    include: { rawChunks: true },
    // Its default writes to the console.
    onError: () => undefined,
  });
  return stream;
}

/** The SDK makes an error of text where a tool call was demanded, and of a call of another tool. */
function isTextInstead(error: unknown): boolean {
  return error instanceof Error && error.name === "AI_ToolChoiceViolationError";
}

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ["stop", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["tool-calls", "tool"],
  ["tool_calls", "tool"],
  ["tool_use", "tool"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["content-filter", "refusal"],
  ["content_filter", "refusal"],
]);

function argumentsText(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input ?? {});
}

function usageOf(streamed: LanguageModelUsage): readonly ModelPart[] {
  const { inputTokens, outputTokens, inputTokenDetails } = streamed;
  if (inputTokens === undefined || outputTokens === undefined) return [];
  const cachedInputTokens = inputTokenDetails.cacheReadTokens;
  const usage = { inputTokens, outputTokens, ...(cachedInputTokens && { cachedInputTokens }) };
  return [{ type: "usage", usage }];
}

type Sdk = Pick<typeof import("ai"), "jsonSchema" | "tool">;

/** A question as the SDK wants it. */
function questionOf(request: ModelRequest, { jsonSchema, tool }: Sdk) {
  const { tool: wanted, turns = [], temperature, maxOutputTokens } = request;
  const system = request.messages.filter(({ role }) => role === "system");
  const offered: readonly ModelTool[] = wanted === undefined ? (request.tools ?? []) : [wanted];
  const tools: ToolSet = Object.fromEntries(
    offered.map(({ name, description, parameters }) => [
      name,
      // Arguments are checked where they are used; here everything passes that is JSON.
      tool({ description, inputSchema: jsonSchema({ ...parameters }) }),
    ]),
  );
  return {
    ...(system.length > 0 && { instructions: system.map(({ content }) => content).join("\n\n") }),
    messages: [
      ...request.messages.flatMap(({ role, content }) =>
        role === "system" ? [] : [{ role, content }],
      ),
      ...turns.map(messageOf),
    ],
    ...(offered.length > 0 && { tools }),
    ...(wanted !== undefined && {
      toolChoice: { type: "tool", toolName: wanted.name } as const,
    }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}

/** A turn as the SDK has it. Anthropic may cache the loop's questions up to the last one. */
function messageOf(
  { role, content }: ModelTurn,
  index: number,
  turns: readonly ModelTurn[],
): ModelMessage {
  const isLast = index === turns.length - 1;
  return {
    role,
    content: [...content],
    ...(isLast && { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } }),
  } as ModelMessage;
}

/** OpenAI sends `choices[].delta.refusal`, Anthropic `delta.stop_reason`: the SDK may drop them. */
function saysRefusal(raw: unknown): boolean {
  if (!isObject(raw)) return false;
  const { choices, delta } = raw;
  if (isObject(delta) && delta["stop_reason"] === "refusal") return true;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  if (!isObject(first) || !isObject(first["delta"])) return false;
  const { refusal } = first["delta"];
  return typeof refusal === "string" && refusal !== "";
}
