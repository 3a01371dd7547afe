import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { BodyTooLargeError } from "@fetchwork/kit";
import type { CommandIo } from "../command/command-io.ts";
import { readInput } from "../command/read-input.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import { replayedRun, type ModelValues } from "./model-options.ts";

/** The option that holds the prompt. */
export const promptOption = {
  prompt: {
    type: "string",
    hint: "file or text",
    description: "The prompt, if it is not the argument; - reads standard input",
  },
} as const;

/** The option that names a plan. */
export const planOption = {
  plan: {
    type: "string",
    hint: "file",
    description: "File with the plan to follow, instead of asking the model for one",
  },
} as const;

/** Maximum length of a path; a longer text is always the prompt itself. */
const longestPath = 1024;
const maxBytes = 1024 * 1024;

/** The sources of a prompt. */
interface PromptValues {
  /** The argument. */
  readonly argument: string | undefined;
  /** The option `--prompt`. */
  readonly option: string | undefined;
}

/**
 * The prompt: a text, or what a file of that name has. A text that looks like the name of a
 * Markdown file must name one.
 *
 * @throws CommandUsageError when there is none, two, or the file is missing, too large or no text
 */
export async function readPrompt(
  { argument, option }: PromptValues,
  io: CommandIo,
): Promise<string | undefined> {
  if (argument !== undefined && option !== undefined) {
    throw new CommandUsageError(
      "the prompt must be given either as an argument or with --prompt, not both",
    );
  }
  const given = argument ?? option;
  if (given === undefined) return undefined;
  const text = given === "-" ? await readInputText(io) : ((await readNamed(given, io)) ?? given);
  if (text.trim() === "") throw new CommandUsageError("the prompt is blank");
  return text;
}

/**
 * The prompt of a command, or else that of the transcript which is replayed.
 *
 * @param what - Its name in the message.
 * @throws CommandUsageError as {@link readPrompt}, and when there is none
 */
export async function requirePrompt(
  what: "error" | "prompt" | "request",
  argument: string | undefined,
  values: ModelValues & { readonly prompt?: string | undefined },
  io: CommandIo,
): Promise<string> {
  const given = await readPrompt({ argument, option: values.prompt }, io);
  const prompt = given ?? (await replayedRun(values, io))["prompt"];
  if (prompt === undefined) throw new CommandUsageError(`${what} is missing`);
  return String(prompt);
}

/**
 * The text of a file.
 *
 * @throws CommandUsageError when it cannot be read, is too large or no text
 */
export async function readTextFile(name: string, what: string, io: CommandIo): Promise<string> {
  const path = resolve(io.cwd, name);
  const bytes = await readFile(path).catch((cause: unknown) => {
    throw new CommandUsageError(`the ${what} ${JSON.stringify(name)} cannot be read`, { cause });
  });
  return decode(bytes, `the ${what} ${JSON.stringify(name)}`);
}

async function readNamed(name: string, io: CommandIo): Promise<string | undefined> {
  if (name.length > longestPath || name.includes("\0") || name.includes("\n")) return undefined;
  const found = await stat(resolve(io.cwd, name)).catch(() => undefined);
  if (found?.isFile() === true) return readTextFile(name, "prompt file", io);
  if (/^\S+\.(?:md|markdown)$/i.test(name)) {
    throw new CommandUsageError(`the prompt file ${JSON.stringify(name)} does not exist`);
  }
  return undefined;
}

async function readInputText(io: CommandIo): Promise<string> {
  const what = "the prompt of standard input";
  try {
    return decode(await readInput(io, maxBytes), what);
  } catch (error) {
    throw error instanceof BodyTooLargeError ? tooLarge(what) : error;
  }
}

function tooLarge(what: string): CommandUsageError {
  return new CommandUsageError(`${what} is larger than ${maxBytes} bytes`);
}

function decode(bytes: Uint8Array, what: string): string {
  if (bytes.byteLength > maxBytes) throw tooLarge(what);
  // Editors on Windows write UTF-16 with a byte-order mark.
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe
      ? "utf-16le"
      : first === 0xfe && second === 0xff
        ? "utf-16be"
        : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CommandUsageError(`${what} is not valid UTF-8`, { cause });
  }
}
