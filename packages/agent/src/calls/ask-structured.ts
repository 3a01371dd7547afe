import { AgentError } from "../errors.ts";
import type { ChatMessage, ModelTool } from "../models/model-provider.ts";
import { askByTool, type AnswerForm } from "./ask-by-tool.ts";
import type { Answer, AskOptions, Question } from "./ask-model.ts";
import { joinValues, readStructured } from "./read-structured.ts";

/** A structured question. */
export interface StructuredQuestion<T> {
  readonly messages: readonly ChatMessage[];
  readonly tool: ModelTool;
  /** The value of the model's answer, or a sentence that tells the model what is wrong with it. */
  readonly read: (value: unknown) => T | Complaint | Promise<T | Complaint>;
  /** Answers that are read until it fails. Default: 2. */
  readonly attempts?: number | undefined;
}

/** Fault of an answer, worded so that the model can do better. */
export class Complaint {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Asks for a value: by a forced tool call, and where the model answers with text instead, or its
 * server knows no tools, as JSON text. The model is told what is wrong with an answer.
 *
 * @throws AgentError `ERR_AGENT_TOOL_OUTPUT` as a rejection when the last answer is wrong too
 */
export async function askStructured<T>(
  question: StructuredQuestion<T>,
  options: AskOptions,
): Promise<T> {
  const { tool, attempts = 2 } = question;
  let form: AnswerForm | undefined;
  let messages = question.messages;
  // Pieces of JSON are nothing for a listener that shows text.
  const quiet = { ...options, onToken: undefined };
  const asked = (by: AnswerForm): Question =>
    by === "tool" ? { messages, tool } : { messages: [...messages, asJson(tool)] };
  for (let attempt = 1; ; attempt += 1) {
    // Arguments that a server sends as an object are not understood.
    const answer = await askByTool(asked, quiet, form, [undefined, 400, 422]);
    const value = readAnswer(answer, tool);
    const result = value instanceof Complaint ? value : await question.read(value);
    if (!(result instanceof Complaint)) return result;
    if (attempt === attempts) {
      throw new AgentError(
        "ERR_AGENT_TOOL_OUTPUT",
        `the model's answer for ${tool.name} cannot be used, also when asked again: ${result.text.slice(0, 1_000)}`,
      );
    }
    // A model that answered with text is asked for text the next time.
    form = answer.toolCalls.length > 0 ? answer.form : "text";
    const content = `# Earlier answer\n\nIt could not be used: ${result.text} Answer again, completely.`;
    messages = [...question.messages, { role: "user", content }];
  }
}

function asJson(tool: ModelTool): ChatMessage {
  return {
    role: "user",
    content: `Answer with JSON only, of this schema:\n\n${JSON.stringify(tool.parameters)}`,
  };
}

/** The value that an answer is, of all its calls together. */
function readAnswer({ text, toolCalls }: Answer, tool: ModelTool): unknown {
  const other = toolCalls.find(({ name }) => name !== tool.name);
  if (other !== undefined) {
    const name = JSON.stringify(other.name.slice(0, 100));
    return new Complaint(`It calls the tool ${name}, and the only tool is ${tool.name}.`);
  }
  const texts = toolCalls.length === 0 ? [text] : toolCalls.map((call) => call.arguments);
  // Some models make the same call several times.
  const values = [...new Set(texts)].map((each) => readStructured(each, tool));
  if (values.includes(undefined)) return new Complaint("It is not valid JSON.");
  return values.reduce(joinValues);
}
