import type { ModelMessage } from "ai";

/** Characters of messages that a question carries; about a hundred thousand tokens. */
const maxCharacters = 350_000;

/** Results shorter than this stay. */
const short = 500;

const leftOut = "(This result is left out to save room. Call the tool again if you need it.)";

/**
 * Leaves the oldest long results of tools out when all messages are too long for a model's context:
 * it may call again. Half of the room is made free at once: a server keeps only what begins as the
 * last question did.
 */
export function shortenResults(messages: readonly ModelMessage[]): ModelMessage[] {
  const size = JSON.stringify(messages).length;
  let excess = size <= maxCharacters ? 0 : size - maxCharacters / 2;
  return messages.map((message): ModelMessage => {
    if (message.role !== "tool") return message;
    const content = message.content.map((part) => {
      if (excess <= 0 || part.type !== "tool-result" || part.output.type !== "text") return part;
      const { value } = part.output;
      if (value.length < short) return part;
      excess -= value.length;
      return { ...part, output: { type: "text" as const, value: leftOut } };
    });
    return { ...message, content };
  });
}
