/** Maximum characters of a written line. */
const width = 100;

/** How {@link listText} writes a list. */
interface ListLayout {
  /** Column at which the statement begins. Default: 0. */
  readonly indent?: number | undefined;
  /** Text before the opening bracket. Default: none. */
  readonly head?: string | undefined;
  /** Text after the closing bracket. Default: none. */
  readonly tail?: string | undefined;
  /** The brackets. Default: `[` and `]`. */
  readonly brackets?: readonly [open: string, close: string] | undefined;
}

/** Writes a list on one line when it fits, else one item a line, as Prettier does. */
export function listText(items: readonly string[], layout: ListLayout = {}): string {
  const { indent = 0, head = "", tail = "", brackets = ["[", "]"] } = layout;
  const [open, close] = brackets;
  const space = open === "{" && items.length > 0 ? " " : "";
  const line = `${head}${open}${space}${items.join(", ")}${space}${close}${tail}`;
  if (indent + line.length <= width && !line.includes("\n")) return line;
  const pad = " ".repeat(indent);
  const lines = items.map((item) => `${pad}  ${item.replaceAll("\n", `\n  `)},\n`);
  return `${head}${open}\n${lines.join("")}${pad}${close}${tail}`;
}

/** A text as a literal of the sources. */
export function literal(text: string): string {
  return JSON.stringify(text);
}

/** A number with the separators that sources have: `50_000`. */
export function numeral(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, "_");
}

/** Words as a sentence lists them: `a, b and c`. */
export function sentenceList(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
