import type { ModelMessage } from "ai";
import { AgentError, cancelled } from "../errors.ts";
import { ToolRefusal } from "./changed-files.ts";
import { loopModel, type LoopModelParts } from "./loop-model.ts";
import type { LoopTool, LoopTools } from "./loop-tool.ts";
import { shortenResults } from "./shorten-results.ts";
import { isPicture, pictureMessage } from "./shown-pictures.ts";

/** Result of a call, as its tool reports it. */
export interface ToolResult {
  readonly text: string;
  readonly isRefused: boolean;
  /** PNG, base64. */
  readonly picture?: string | undefined;
}

/** Parts of a loop. */
export interface LoopParts extends LoopModelParts {
  readonly instructions: string;
  readonly tools: LoopTools;
  /** Maximum number of questions. */
  readonly maxSteps: number;
  readonly signal: AbortSignal;
  /** Results from before of tools whose results may differ, by the name of their call. */
  readonly results: ReadonlyMap<string, ToolResult>;
  /** Keeps a result before anything builds on it. */
  readonly keepResult: (callId: string, result: ToolResult) => Promise<void>;
  /** Hears of each call that was done. */
  readonly onTool: (name: string, about: string, result: ToolResult) => void;
}

/** Pictures of an answer's calls that are shown: they go along with each question. */
const maxPictures = 2;

/** A conversation with a model that calls tools. */
export type Conversation = readonly ModelMessage[];

/**
 * Asks a model, does what it calls for, tells it the result, and so on until it calls for nothing
 * more. Calls of one answer are done one after another, in their order. So a loop that is resumed
 * after its process was killed has the same results, questions and paid answers.
 *
 * @returns the conversation with all that was said
 * @throws AgentError `ERR_AGENT_LIMIT` as a rejection, after `maxSteps` questions; what asking
 * rejects with
 */
export async function runLoop(messages: Conversation, parts: LoopParts): Promise<Conversation> {
  const { instructions, maxSteps, signal } = parts;
  const sdk = await import("ai");
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const pictures: string[] = [];
  const tools = toolsOf(sdk, { ...parts, pictures }, (error) => failed.abort(error), either);
  try {
    const result = await sdk.generateText({
      model: loopModel(parts),
      instructions,
      messages: [...messages],
      tools,
      stopWhen: sdk.isStepCount(maxSteps),
      maxRetries: 0,
      abortSignal: either,
      prepareStep: ({ messages: all }) => {
        const shown = pictures.splice(0).slice(-maxPictures).map(pictureMessage);
        // New ones take the place of the old; what is returned is what the next step begins with.
        const others = shown.length === 0 ? all : all.filter((message) => !isPicture(message));
        return { messages: [...shortenResults(others), ...shown] };
      },
    });
    if (failed.signal.aborted) throw failed.signal.reason;
    if (result.finishReason === "tool-calls") {
      const message = `the model was asked ${maxSteps} times and is not done`;
      throw new AgentError("ERR_AGENT_LIMIT", message);
    }
    return [...messages, ...result.responseMessages];
  } catch (error) {
    if (failed.signal.aborted) throw failed.signal.reason;
    throw signal.aborted ? cancelled(signal) : error;
  }
}

/** The tools as the SDK calls them. A refusal is told to the model; anything else ends the loop. */
function toolsOf(
  { tool }: Pick<typeof import("ai"), "tool">,
  parts: LoopParts & { readonly pictures: string[] },
  fail: (error: unknown) => void,
  signal: AbortSignal,
) {
  let last: Promise<unknown> = Promise.resolve();
  const entries = Object.entries(parts.tools).map(([name, one]) => {
    const call = async (input: unknown, callId: string): Promise<string> => {
      try {
        if (signal.aborted) throw cancelled(signal);
        const kept = parts.results.get(callId);
        const result = kept ?? (await resultOf(one, input, signal));
        if (one.mayDiffer === true && !kept) await parts.keepResult(callId, result);
        parts.onTool(name, one.about(input), result);
        if (result.picture !== undefined) parts.pictures.push(result.picture);
        return result.isRefused ? `Refused: ${result.text}` : result.text;
      } catch (error) {
        fail(error);
        throw error;
      }
    };
    const { description, input } = one;
    const execute = (given: unknown, { toolCallId }: { toolCallId: string }): Promise<string> => {
      const done = last.then(() => call(given, toolCallId));
      last = done.catch(() => undefined);
      return done;
    };
    return [name, tool({ description, inputSchema: input, execute })] as const;
  });
  return Object.fromEntries(entries);
}

async function resultOf(one: LoopTool, input: unknown, signal: AbortSignal): Promise<ToolResult> {
  try {
    const output = await one.execute(input, signal);
    return { ...(typeof output === "string" ? { text: output } : output), isRefused: false };
  } catch (error) {
    if (error instanceof ToolRefusal) return { text: error.message, isRefused: true };
    throw error;
  }
}

/** Last words of the model. */
export function lastWords(conversation: Conversation): string {
  const content = conversation.findLast(({ role }) => role === "assistant")?.content ?? "";
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
