import { expect, it } from "vitest";
import { isRefusal } from "../src/files/find-refusal.ts";

it.each([
  "I'm sorry, but I can't help with that request.",
  "I’m very sorry, I cannot assist with creating this.\n",
  "Sorry, I won't write that.",
  "I cannot comply with this request because it may cause harm.",
  "I am unable to provide this file.",
  "Unfortunately, I can't continue with this.",
  "As an AI language model, I cannot generate that.",
])("findRefusal takes %j for a refusal", (text) => {
  expect(isRefusal(text)).toBe(true);
});

it.each([
  "# Sorry, wrong number\n\nA game about calls that nobody can't write down.\n",
  "I'm sorry, said the fox, and went away.\n",
  "print('I cannot help you')\n",
  "<p>I'm sorry, but I can't help with that.</p>\n",
  "i = can_t\n",
  `I'm sorry, but I can't help it: ${"a long story ".repeat(200)}`,
])("findRefusal takes %j for a file", (text) => {
  expect(isRefusal(text)).toBe(false);
});
