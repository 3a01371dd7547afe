import { createHash } from "node:crypto";
import { appendFile, readFile, truncate, writeFile } from "node:fs/promises";
import { isObject } from "@fetchwork/kit";
import { codeOf } from "../error-code.ts";
import { AgentError, cancelled } from "../errors.ts";
import type { ModelPart, ModelProvider, ModelRequest } from "./model-provider.ts";

const format = "fetchwork-transcript";

/** Where a transcript is from: a model's server, or a person who wrote it. */
export type TranscriptSource = "recorded" | "scripted";

/** Settings of a recorded run, such as its prompt and model: texts, numbers, true or false. */
export type TranscriptRun = Readonly<Record<string, string | number | boolean>>;

/** Information that a transcript has about itself. */
export interface TranscriptHead {
  readonly source: TranscriptSource;
  /** `{}` where it says nothing. */
  readonly run: TranscriptRun;
}

/** How a run is recorded. */
export interface RecordingOptions {
  /** Where the answers are from. Default: `recorded`. */
  readonly source?: TranscriptSource | undefined;
  /** Settings of the run that a replay needs. Default: none. */
  readonly run?: TranscriptRun | undefined;
}

/** The answers of a transcript by their {@link keyOf}. */
type Answers = Map<string, (readonly ModelPart[])[]>;

/**
 * Passes calls on and writes whole answers to a file, one line of JSON each, after what is there.
 * It has prompts and answers, and no keys.
 */
export function recording(
  provider: ModelProvider,
  file: string,
  { source = "recorded", run = {} }: RecordingOptions = {},
): ModelProvider {
  let head: Promise<void> | undefined;
  return {
    ...provider,
    async *generate(request, signal) {
      const parts: ModelPart[] = [];
      for await (const part of provider.generate(request, signal)) {
        // In a loop of tools, the next question has them.
        if (part.type !== "thinking" || request.tools !== undefined) parts.push(part);
        yield part;
      }
      head ??= begin(file, `${JSON.stringify({ format, version: 1, source, run })}\n`);
      await head;
      // For readers of the file.
      const about = request.messages.at(-1)?.content.slice(0, 80) ?? "";
      const line = { key: keyOf(request), about, parts: joined(parts) };
      await appendFile(file, `${JSON.stringify(line)}\n`);
    },
  };
}

/** Begins or continues a transcript: a line that its process did not finish is removed. */
async function begin(file: string, head: string): Promise<void> {
  try {
    await writeFile(file, head, { flag: "wx", mode: 0o600 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    const bytes = await readFile(file);
    const whole = bytes.lastIndexOf(10) + 1;
    if (whole < bytes.byteLength) await truncate(file, whole);
    if (whole === 0) await appendFile(file, head);
  }
}

/**
 * Answers from a transcript. A question that it does not have is an error. The same question gets
 * its answers in their order, and then the last one again.
 */
export function replaying(file: string): ModelProvider {
  let loading: Promise<Answers> | undefined;
  return {
    id: "replay",
    async *generate(request, signal) {
      const answers = await (loading ??= load(file));
      if (signal.aborted) throw cancelled(signal);
      const kept = answers.get(keyOf(request));
      const parts = kept !== undefined && kept.length > 1 ? kept.shift() : kept?.[0];
      if (parts === undefined) {
        const about = request.messages.at(-1)?.content.split("\n")[0]?.slice(0, 80) ?? "";
        throw new AgentError(
          "ERR_AGENT_REPLAY",
          `the transcript has no answer for ${JSON.stringify(about)}; the prompt, the model or the version differs`,
        );
      }
      yield* parts;
    },
  };
}

/**
 * Reads what a transcript says of itself.
 *
 * @throws AgentError `ERR_AGENT_REPLAY` as a rejection, when it is none
 */
export async function readTranscriptHead(file: string): Promise<TranscriptHead> {
  const [line = ""] = (await readText(file)).split("\n", 1);
  const { format: found, source, run } = parse(line);
  if (found !== format) throw noTranscript(file);
  const known = Object.entries(isObject(run) ? run : {}).filter(isPlain);
  return { source: source === "scripted" ? source : "recorded", run: Object.fromEntries(known) };
}

function isPlain(entry: readonly [string, unknown]): entry is [string, string | number | boolean] {
  return ["string", "number", "boolean"].includes(typeof entry[1]);
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch((cause: unknown) => {
    throw new AgentError("ERR_AGENT_REPLAY", `the transcript ${file} cannot be read`, { cause });
  });
}

function noTranscript(file: string): AgentError {
  return new AgentError("ERR_AGENT_REPLAY", `${file} is not a transcript`);
}

async function load(file: string): Promise<Answers> {
  const text = await readText(file);
  const answers: Answers = new Map();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = parse(line);
    if (index === 0) {
      if (value["format"] !== format) throw noTranscript(file);
      continue;
    }
    const { key, parts } = value;
    if (typeof key !== "string" || !Array.isArray(parts)) {
      throw new AgentError("ERR_AGENT_REPLAY", `line ${index + 1} of the transcript is damaged`);
    }
    // The parts are checked where a provider's parts always are.
    answers.set(key, [...(answers.get(key) ?? []), parts as readonly ModelPart[]]);
  }
  return answers;
}

function parse(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Key that equal questions share, without token limits: these depend on the budget left. */
function keyOf({ model, messages, tool, tools, turns, temperature }: ModelRequest): string {
  const parts = [model, messages, tool?.name, tool?.parameters, temperature];
  const whole = JSON.stringify(tools === undefined ? parts : [...parts, tools, turns]);
  return createHash("sha256").update(whole).digest("hex");
}

/** Pieces of text that follow each other become one. */
function joined(parts: readonly ModelPart[]): readonly ModelPart[] {
  const result: ModelPart[] = [];
  for (const part of parts) {
    const last = result.at(-1);
    if (part.type === "text" && last?.type === "text") {
      result[result.length - 1] = { type: "text", text: last.text + part.text };
    } else if (
      part.type === "tool" &&
      part.metadata === undefined &&
      last?.type === "tool" &&
      last.id === part.id
    ) {
      result[result.length - 1] = { ...last, ...part, delta: last.delta + part.delta };
    } else result.push(part);
  }
  return result;
}
