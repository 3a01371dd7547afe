import { styleText } from "node:util";
import type { CommandOutput } from "./command-io.ts";

/** Colours for an output; where no person reads it they change nothing. */
interface Colours {
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** Makes the colours of an output. */
export function colours({ isTerminal }: CommandOutput): Colours {
  const style =
    (name: "green" | "red" | "dim") =>
    (text: string): string =>
      isTerminal ? styleText(name, text, { validateStream: false }) : text;
  return { green: style("green"), red: style("red"), dim: style("dim") };
}

// Control characters, line and paragraph separators, and what turns the direction of text.
// oxlint-disable-next-line no-control-regex
const moving = /[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Escapes untrusted text so that it can neither move the cursor nor start a new line. */
export function oneLine(text: string, maxLength = 200): string {
  return text.slice(0, maxLength).replace(moving, "?");
}

/** The same for a longer text with its lines and tabs. A return alone is replaced too. */
export function manyLines(text: string): string {
  return text.replace(moving, (found, at: number) => {
    const stays = found === "\t" || found === "\n" || (found === "\r" && text[at + 1] === "\n");
    return stays ? found : "?";
  });
}

/** A value as one line of JSON in which those characters are escaped. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(moving, escaped)}\n`;
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
