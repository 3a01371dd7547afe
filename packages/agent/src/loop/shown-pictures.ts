import type { ModelMessage } from "ai";
import type { Question } from "../calls/ask-model.ts";

const caption = "The picture of the page:";
const unseen = "There is no picture: the model's server takes none.";

/** A message with a picture (PNG, base64) of a tool: few servers take it as a result. */
export function pictureMessage(data: string): ModelMessage {
  const content = [
    { type: "text", text: caption } as const,
    { type: "file", mediaType: "image/png", data } as const,
  ];
  return { role: "user", content };
}

/** Whether a message shows a picture of a tool. */
export function isPicture({
  role,
  content,
}: {
  readonly role: string;
  readonly content: unknown;
}): boolean {
  const [first] = Array.isArray(content) ? (content as readonly { readonly text?: unknown }[]) : [];
  return role === "user" && first?.text === caption;
}

/** A question without pictures of tools; the same one when it has none. */
export function withoutPictures(question: Question): Question {
  const { turns = [] } = question;
  if (!turns.some(isPicture)) return question;
  const content = [{ type: "text", text: unseen } as const];
  return {
    ...question,
    turns: turns.map((turn) => (isPicture(turn) ? { role: "user", content } : turn)),
  };
}
