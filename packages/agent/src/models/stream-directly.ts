import type { LanguageModel } from "ai";
import type { ModelRequest } from "./model-provider.ts";

/** A model of the interface that version 7 of the AI SDK has for providers. */
export type CurrentModel = Extract<LanguageModel, { readonly specificationVersion: "v4" }>;

/** A part of an answer, as `streamText` of the SDK names it; parts that say nothing to us are left out. */
export type StreamedPart =
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "reasoning-start" | "reasoning-delta" | "reasoning-end" }
  | { readonly type: "tool-input-start"; readonly id: string; readonly toolName: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly delta: string }
  | {
      readonly type: "tool-call";
      readonly toolCallId: string;
      readonly toolName: string;
      readonly input: unknown;
    }
  | { readonly type: "raw"; readonly rawValue: unknown }
  | { readonly type: "error"; readonly error: unknown }
  | { readonly type: "abort" }
  | {
      readonly type: "finish-step";
      readonly finishReason: string;
      readonly rawFinishReason?: string | undefined;
      readonly usage: {
        readonly inputTokens: number | undefined;
        readonly outputTokens: number | undefined;
      };
    };

/** Whether a model can be asked without the SDK's own pipeline. */
export function isCurrent(model: LanguageModel): model is CurrentModel {
  return typeof model === "object" && model.specificationVersion === "v4";
}

/**
 * Asks a model of the current interface. `streamText` passes each piece through a dozen streams, which for a file of a few
 * kilobytes is twice the time of everything else together; nothing of what they do is needed here.
 *
 * @yields the parts, in the order in which they come
 */
export async function* streamDirectly(
  model: CurrentModel,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncIterable<StreamedPart> {
  const { stream } = await model.doStream(callOf(request, signal));
  for await (const part of stream) {
    if (part.type === "text-delta") yield { type: "text-delta", text: part.delta };
    else if (part.type === "finish") {
      const { finishReason, usage } = part;
      yield {
        type: "finish-step",
        finishReason: finishReason.unified,
        rawFinishReason: finishReason.raw,
        usage: { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total },
      };
    } else if (
      part.type === "reasoning-start" ||
      part.type === "reasoning-delta" ||
      part.type === "reasoning-end" ||
      part.type === "tool-input-start" ||
      part.type === "tool-input-delta" ||
      part.type === "tool-call" ||
      part.type === "raw" ||
      part.type === "error"
    ) {
      yield part;
    }
  }
}

function callOf(
  { messages, tool, temperature, maxOutputTokens }: ModelRequest,
  signal: AbortSignal,
): Parameters<CurrentModel["doStream"]>[0] {
  const system = messages.filter(({ role }) => role === "system");
  const instructions = system.map(({ content }) => content).join("\n\n");
  return {
    prompt: [
      ...(system.length > 0 ? [{ role: "system" as const, content: instructions }] : []),
      ...messages.flatMap(({ role, content }) =>
        role === "system" ? [] : [{ role, content: [{ type: "text" as const, text: content }] }],
      ),
    ],
    abortSignal: signal,
    includeRawChunks: true,
    ...(tool !== undefined && {
      tools: [
        {
          type: "function" as const,
          name: tool.name,
          description: tool.description,
          inputSchema: { ...tool.parameters },
        },
      ],
      toolChoice: { type: "tool" as const, toolName: tool.name },
    }),
    ...(temperature !== undefined && { temperature }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
  };
}
