import type { FlexibleSchema } from "ai";
import type { z } from "zod";

/** Result of a tool, with a picture. */
export interface ToolOutput {
  readonly text: string;
  /** PNG, base64; shown to models that take pictures. */
  readonly picture: string;
}

type Executed = string | ToolOutput | Promise<string | ToolOutput>;

/** A tool that the model of a loop may call. */
export interface LoopTool<T = unknown> {
  /** Whether a repeated call may differ: then a resumed loop keeps the first result. */
  readonly mayDiffer?: boolean | undefined;
  /** Purpose of the tool; the model reads it. */
  readonly description: string;
  /** Schema of its arguments, an object. */
  readonly input: FlexibleSchema;
  /** Subject of a call, in a few words, for people who watch. */
  readonly about: (input: T) => string;
  /** Runs it. The model is told the result, or the message of a thrown `ToolRefusal`. */
  readonly execute: (input: T, signal: AbortSignal) => Executed;
}

/** Tools by the name that the model calls them. */
export type LoopTools = Readonly<Record<string, LoopTool>>;

/** Makes a tool whose arguments have the types of its schema. */
export function defineTool<T>(
  tool: Omit<LoopTool<T>, "input"> & { readonly input: z.ZodType<T> },
): LoopTool {
  const { input, about, execute } = tool;
  return {
    ...tool,
    about: (value) => about(input.parse(value)),
    execute: (value, signal) => execute(input.parse(value), signal),
  };
}
