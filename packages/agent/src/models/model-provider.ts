/** One message of a conversation with a model. */
export interface ChatMessage {
  /** Who says it. */
  readonly role: "system" | "user" | "assistant";
  /** What is said. */
  readonly content: string;
}

/** A JSON Schema (draft 7) for the arguments of a tool. */
export type OutputSchema = Readonly<Record<string, unknown>>;

/** A structured call that the model has to answer with. */
export interface ModelTool {
  /** Name on the wire: letters, digits, `_` and `-`. */
  readonly name: string;
  /** What it is for; the model reads it. */
  readonly description: string;
  /** Schema of its arguments, an object. */
  readonly parameters: OutputSchema;
}

/** One question to a model. */
export interface ModelRequest {
  /** Name of the model, as its server knows it. */
  readonly model: string;
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  /** The model has to call this tool. Default: it answers with text. */
  readonly tool?: ModelTool | undefined;
  /** 0 to 2. Default: the server's. */
  readonly temperature?: number | undefined;
  /** Most tokens that the answer may have. Default: the server's. */
  readonly maxOutputTokens?: number | undefined;
}

/** Tokens of one call, as the server counted them. */
export interface TokenCount {
  /** Of the question. */
  readonly inputTokens: number;
  /** Of the answer. */
  readonly outputTokens: number;
}

/**
 * Why an answer ended. Only `stop` and `tool` are ends of a whole answer: `length` was cut, `refusal` includes content
 * filters, and `unknown` is everything else, also a stream that ended without saying why.
 */
export type FinishReason = "stop" | "tool" | "length" | "refusal" | "unknown";

/** A piece of an answer, in the order in which it came. */
export type ModelPart =
  | { readonly type: "text"; readonly text: string }
  /** The model thinks. Nothing of that is in the answer, but its server is not silent. */
  | { readonly type: "thinking" }
  /** Part of the JSON text of a tool's arguments. */
  | { readonly type: "tool"; readonly id: string; readonly name: string; readonly delta: string }
  | { readonly type: "usage"; readonly usage: TokenCount }
  | { readonly type: "finish"; readonly reason: FinishReason };

/** What a model can do. */
export interface ModelCapabilities {
  /** Whether it takes forced tool calls. Default: `true`; a refusal of the server is noticed anyway. */
  readonly tools?: boolean | undefined;
  /** Tokens of question and answer together. Default: unknown; the server says so when it is too much. */
  readonly contextTokens?: number | undefined;
}

/**
 * Reaches models. `generate` makes one attempt and yields the answer's parts; it never repeats a call, and fails with an
 * `AgentError` that says whether repeating may help. An answer without a `finish` part counts as cut.
 */
export interface ModelProvider {
  /** Short name, without secrets, for logs and step identities. */
  readonly id: string;
  /** The model that is asked when a call names none. Default: `defaultModel`. */
  readonly defaultModel?: string | undefined;
  /** What a model can do. Default: tools, and an unknown context. */
  capabilities?(model: string): ModelCapabilities;
  /** Asks once. A generator that is not asynchronous will do too. */
  generate(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncIterable<ModelPart> | Iterable<ModelPart>;
}
