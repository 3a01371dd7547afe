import { AgentError, cancelled, checkTime } from "../errors.ts";
import { defaultModel } from "../models/default-model.ts";
import type {
  FinishReason,
  ModelPart,
  ModelProvider,
  ModelRequest,
  ProviderMetadata,
  TokenCount,
} from "../models/model-provider.ts";
import { neverArrived, providerFailure } from "../models/provider-failure.ts";
import { addUsage, Budget, noUsage, type Usage } from "./budget.ts";
import { askToTheEnd } from "./continue-answer.ts";
import { hold, whileHeld } from "./hold-calls.ts";
import { createRetry, pause, type RetryNotice, type RetryPolicy } from "./retry-policy.ts";
import { toolTextReader } from "./tool-text.ts";

/** Maximum characters of an answer; a server that never stops is cut off. */
const longestAnswer = 32 * 1024 * 1024;

/** How a model is asked. */
export interface AskOptions {
  /** Reaches the model. */
  readonly provider: ModelProvider;
  /** Name of the model. Default: the provider's, else `defaultModel`. */
  readonly model?: string | undefined;
  /** Counts and limits use. Default: no limits. */
  readonly budget?: Budget | undefined;
  /** When a failed attempt is repeated. Default: see {@link RetryPolicy}. */
  readonly retry?: RetryPolicy | undefined;
  /** Ends the call. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** 0 to 2. Default: the server's. */
  readonly temperature?: number | undefined;
  /** Maximum tokens of an answer; it is continued at most three times. Default: the server's. */
  readonly maxOutputTokens?: number | undefined;
  /** Milliseconds without text or thoughts after which an attempt fails. Default: `120_000`. */
  readonly idleTimeout?: number | undefined;
  /** Receives each piece of text as it comes. After `onRetry` the answer begins again. */
  readonly onToken?: ((text: string) => void) | undefined;
  /** Hears what each attempt used. */
  readonly onUsage?: ((usage: Usage) => void) | undefined;
  /** Hears of each failed attempt that is repeated. */
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** A question without the model's name. */
export interface Question extends Pick<ModelRequest, "messages" | "tool" | "tools" | "turns"> {
  /** Whether an answer without text that ends normally is whole. Default: `false`, ask again. */
  readonly mayBeEmpty?: boolean | undefined;
  /** Argument of the demanded tool, its first, whose text `onToken` hears. Default: none. */
  readonly shown?: string | undefined;
}

/** A tool call of an answer. */
export interface ToolCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
  readonly metadata?: ProviderMetadata | undefined;
}

/** Thought of a model before its answer. */
export interface Thought {
  readonly text: string;
  readonly metadata?: ProviderMetadata | undefined;
}

/** An answer. */
export interface Answer {
  /** Whether its text was cut at the token limit; then it has no calls. Default: `false`. */
  readonly isCut?: boolean | undefined;
  /** Its text; empty where it is a tool call. */
  readonly text: string;
  /** Every tool call; empty when the model answered with text instead. */
  readonly toolCalls: readonly ToolCall[];
  /** Thoughts of the model before the answer, for servers that want them back. */
  readonly thoughts: readonly Thought[];
  /** Usage of all attempts. */
  readonly usage: Usage;
}

/**
 * Asks until there is a whole answer. A text that is cut at the limit of its tokens is continued in
 * the same conversation; what was cut otherwise, refused, empty or broken off is never returned.
 *
 * @throws AgentError as a rejection, with the last attempt's reason
 */
export async function askModel(question: Question, options: AskOptions): Promise<Answer> {
  let usage = noUsage;
  const answer = await askToTheEnd(question, async (one) => {
    const part = await askOnce(one, options);
    usage = addUsage(usage, part.usage);
    return part;
  });
  return { ...answer, usage };
}

/**
 * Asks as `askModel`, for an answer whose text may be cut.
 *
 * @throws AgentError as a rejection; `CutCallError` where a call was cut, of which nothing can be
 * used
 */
export async function askOnce(question: Question, options: AskOptions): Promise<Answer> {
  const { provider, budget = new Budget(), retry, temperature, maxOutputTokens } = options;
  const model = modelOf(options);
  const { mayBeEmpty = false, shown, ...asked } = question;
  const request: ModelRequest = { ...asked, model, temperature, maxOutputTokens };
  const nextDelay = createRetry(retry);
  checkTime("idleTimeout", options.idleTimeout);
  const signal = budget.within(options.signal);
  let used = noUsage;
  for (let attempt = 1; ; attempt += 1) {
    if (signal.aborted) throw cancelled(signal);
    const reservation = await budget.reserve(request, signal);
    await whileHeld(provider, signal).catch((error: unknown) => {
      reservation.release();
      throw error;
    });
    const attempted = { ...request, maxOutputTokens: reservation.maxOutputTokens };
    const heard = await listen(provider, attempted, { ...options, signal, shown });
    const outcome = mayBeEmpty && isEmptyEnd(heard) ? { ...heard, error: undefined } : heard;
    const failure = outcome.error instanceof AgentError ? outcome.error : undefined;
    const delay = failure && !signal.aborted ? nextDelay(attempt, failure) : undefined;
    // Before its reservation is released, for which others may wait.
    if (failure !== undefined && delay !== undefined) hold(provider, delay, failure);
    const cost = outcome.reached ? reservation.settle(outcome.count) : undefined;
    reservation.release();
    if (cost !== undefined) {
      used = addUsage(used, cost);
      options.onUsage?.(cost);
    }
    const isCut = isCutText(outcome) && !reservation.isShortened;
    const { text, toolCalls, thoughts } = outcome;
    if (isCut) return { text, toolCalls, thoughts, usage: used, isCut };
    if (outcome.error === undefined) return { text, toolCalls, thoughts, usage: used };
    // A listener that throws is not the server: asking again would cost again, and fail again.
    if (outcome.error instanceof ListenerFailure) throw outcome.error.cause;
    if (outcome.error.code === "ERR_AGENT_TRUNCATED" && reservation.isShortened) {
      const message = "what is left of the budget is too little for the answer";
      throw new AgentError("ERR_AGENT_BUDGET", message, { cause: outcome.error });
    }
    if (delay === undefined) throw signal.aborted ? cancelled(signal) : outcome.error;
    options.onRetry?.({ attempt, delay, error: outcome.error });
    await pause(delay, signal);
  }
}

/** Name of the model that is asked. */
export function modelOf({ model, provider }: Pick<AskOptions, "model" | "provider">): string {
  return model ?? provider.defaultModel ?? defaultModel;
}

interface Outcome extends Omit<Answer, "usage"> {
  readonly count: TokenCount | undefined;
  /** Whether the server may send a bill: it did not refuse the question with a status. */
  readonly reached: boolean;
  readonly reason: FinishReason | undefined;
  readonly error: AgentError | ListenerFailure | undefined;
}

async function listen(
  provider: ModelProvider,
  request: ModelRequest,
  options: AskOptions & { readonly signal: AbortSignal; readonly shown: string | undefined },
): Promise<Outcome> {
  const { signal, onToken, idleTimeout = 120_000, shown } = options;
  const idle = new AbortController();
  const stop = (): void =>
    idle.abort(
      new AgentError("ERR_AGENT_TIMEOUT", `the model's server was silent for ${idleTimeout} ms`, {
        retryable: true,
      }),
    );
  let timer = setTimeout(stop, idleTimeout);
  const text: string[] = [];
  const calls = new Map<string, ToolCall>();
  const shownText = textShower(request, shown);
  const thoughts = new Map<string, Thought>();
  let length = 0;
  let count: TokenCount | undefined;
  let reason: FinishReason | undefined;
  let heard = false;
  let error: Outcome["error"];
  try {
    const either = AbortSignal.any([signal, idle.signal]);
    for await (const part of abortable(provider.generate(request, either), either)) {
      clearTimeout(timer);
      timer = setTimeout(stop, idleTimeout);
      heard = true;
      if (part.type === "usage") count = part.usage;
      else if (part.type === "finish") reason = part.reason;
      else if (part.type === "thinking") {
        length += part.text?.length ?? 0;
        addThought(thoughts, part);
      } else {
        const piece = part.type === "text" ? part.text : part.delta;
        length += piece.length;
        hear(onToken, part.type === "text" ? piece : shownText(part));
        if (part.type === "text") text.push(piece);
        else {
          const { name, arguments: before } = calls.get(part.id) ?? { ...part, arguments: "" };
          const { metadata } = part;
          calls.set(part.id, { name, arguments: before + piece, ...(metadata && { metadata }) });
        }
      }
      if (length > longestAnswer) {
        throw new AgentError("ERR_AGENT_TRUNCATED", "the answer has no end");
      }
    }
    error = incomplete(reason, text.join(""), calls.size);
  } catch (cause) {
    if (cause instanceof ListenerFailure) error = cause;
    else if (idle.signal.aborted && !signal.aborted) error = cancelled(idle.signal);
    else error = providerFailure(cause);
  } finally {
    clearTimeout(timer);
  }
  return {
    text: text.join(""),
    toolCalls: [...calls.values()],
    thoughts: [...thoughts.values()],
    count,
    reached: heard || !neverArrived(error),
    reason,
    error,
  };
}

/** Adds a piece to its thought; the first one may be empty. */
function addThought(
  thoughts: Map<string, Thought>,
  { id = "", text = "", metadata }: Extract<ModelPart, { readonly type: "thinking" }>,
): void {
  const before = thoughts.get(id);
  if (before === undefined && text === "" && metadata === undefined) return;
  thoughts.set(id, { text: (before?.text ?? "") + text, metadata: metadata ?? before?.metadata });
}

/** The text that a listener hears of a tool call, piece by piece. */
function textShower(request: ModelRequest, shown: string | undefined) {
  const readers = new Map<string, (piece: string) => string>();
  return ({ id, name, delta }: Extract<ModelPart, { type: "tool" }>): string => {
    if (shown === undefined || name !== request.tool?.name) return "";
    const read = readers.get(id) ?? toolTextReader(shown);
    readers.set(id, read);
    return read(delta);
  };
}

/** Whether an answer ended normally and its only fault is that it has no text. */
function isEmptyEnd({ error, reason }: Outcome): boolean {
  return error instanceof AgentError && error.code === "ERR_AGENT_EMPTY" && reason === "stop";
}

/** Whether an answer is a text that can be continued. */
function isCutText({ error, reason, text, toolCalls }: Outcome): boolean {
  if (reason !== "length" || toolCalls.length > 0 || text.trim() === "") return false;
  return error instanceof AgentError && error.code === "ERR_AGENT_TRUNCATED";
}

/** A call of a tool was cut: it cannot be continued, and half of its arguments are of no use. */
export class CutCallError extends AgentError {
  constructor() {
    super("ERR_AGENT_TRUNCATED", "a call of a tool was cut at the limit of the answer's tokens");
  }
}

/** Error that a listener threw, apart from errors of a server. */
class ListenerFailure extends Error {}

function hear(onToken: AskOptions["onToken"], piece: string): void {
  try {
    if (piece !== "") onToken?.(piece);
  } catch (cause) {
    throw new ListenerFailure("a listener failed", { cause });
  }
}

// Ends with the signal also where the provider does not listen to it.
async function* abortable(
  parts: AsyncIterable<ModelPart> | Iterable<ModelPart>,
  signal: AbortSignal,
): AsyncIterable<ModelPart> {
  const iterator =
    Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(cancelled(signal));
  aborted.catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) throw cancelled(signal);
    for (;;) {
      const next = await Promise.race([iterator.next(), aborted]);
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    // Not awaited: a provider that ignores the signal would hold the call.
    void (async () => iterator.return?.())().catch(() => undefined);
  }
}

function incomplete(
  reason: FinishReason | undefined,
  text: string,
  calls: number,
): AgentError | undefined {
  if (reason === "length") {
    if (calls > 0) return new CutCallError();
    return new AgentError("ERR_AGENT_TRUNCATED", "the answer was cut at the limit of its tokens");
  }
  if (reason === "refusal") {
    return new AgentError("ERR_AGENT_REFUSED", "the model refused to answer");
  }
  if (reason !== "stop" && reason !== "tool") {
    return new AgentError("ERR_AGENT_TRUNCATED", "the answer ended before its end", {
      retryable: true,
    });
  }
  if (text.trim() === "" && calls === 0) {
    return new AgentError("ERR_AGENT_EMPTY", "the answer is empty", { retryable: true });
  }
  return undefined;
}
