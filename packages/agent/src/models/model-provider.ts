/** One message of a conversation with a model. */
export interface ChatMessage {
  /** Its author. */
  readonly role: "system" | "user" | "assistant";
  /** Text of the message. */
  readonly content: string;
}

/** A structured call that the model has to answer with. */
export interface ModelTool {
  /** Name on the wire: letters, digits, `_` and `-`. */
  readonly name: string;
  /** Purpose of the tool; the model reads it. */
  readonly description: string;
  /** JSON Schema (draft 7) of its arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** Data that a provider attached to a piece, such as a signature of thoughts, by provider name. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A piece of a turn, shaped as the AI SDK has it. */
export type TurnPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "file"; readonly data: string | Uint8Array; readonly mediaType: string }
  | {
      readonly type: "reasoning";
      readonly text: string;
      readonly providerOptions?: ProviderMetadata | undefined;
    }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
      readonly providerOptions?: ProviderMetadata | undefined;
    }
  | {
      readonly type: "tool-result";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly output: unknown;
    };

/** Turn of the conversation after the first messages. */
export interface ModelTurn {
  readonly role: "user" | "assistant" | "tool";
  readonly content: readonly TurnPart[];
}

/** One question to a model. */
export interface ModelRequest {
  /** Name of the model, as its server knows it. */
  readonly model: string;
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** Turns after the messages: tool calls and their results. Default: none. */
  readonly turns?: readonly ModelTurn[] | undefined;
  /** The model has to call this tool. Default: it answers with text. */
  readonly tool?: ModelTool | undefined;
  /** The model may call these tools, several at once. Default: none. */
  readonly tools?: readonly ModelTool[] | undefined;
  /** 0 to 2. Default: the server's. */
  readonly temperature?: number | undefined;
  /** Maximum tokens that the answer may have. Default: the server's. */
  readonly maxOutputTokens?: number | undefined;
}

/** Tokens of one call, as the server counted them. */
export interface TokenCount {
  /** Tokens of the question, with those that the server had kept of an earlier one. */
  readonly inputTokens: number;
  /** Tokens of the question that the server had kept. Default: 0. */
  readonly cachedInputTokens?: number | undefined;
  /** Tokens of the answer, with its thoughts. */
  readonly outputTokens: number;
}

/**
 * Why an answer ended. Only `stop` and `tool` are ends of a whole answer: `length` was cut,
 * `refusal` includes content filters, and `unknown` is everything else, also a stream that ended
 * without saying why.
 */
export type FinishReason = "stop" | "tool" | "length" | "refusal" | "unknown";

/** A piece of an answer, in the order in which it came. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  /** The model thinks. Thoughts are not part of the answer; some servers want them back. */
  | {
      readonly type: "thinking";
      readonly id?: string | undefined;
      readonly text?: string | undefined;
      readonly metadata?: ProviderMetadata | undefined;
    }
  /** Part of the JSON text of a tool's arguments. */
  | {
      readonly type: "tool";
      readonly id: string;
      readonly name: string;
      readonly delta: string;
      readonly metadata?: ProviderMetadata | undefined;
    }
  | { readonly type: "usage"; readonly usage: TokenCount }
  | { readonly type: "finish"; readonly reason: FinishReason };

/**
 * Reaches models. `generate` makes one attempt and yields the answer's parts; it never repeats a
 * call, and fails with an `AgentError` that says whether repeating may help. An answer without a
 * `finish` part counts as cut.
 */
export interface ModelProvider {
  /** Short name, without secrets, for logs and step identities. */
  readonly id: string;
  /** The model that is asked when a call names none. Default: `defaultModel`. */
  readonly defaultModel?: string | undefined;
  /** Asks once. A generator that is not asynchronous will do too. */
  generate(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncIterable<ModelPart> | Iterable<ModelPart>;
}
