import { createHash } from "node:crypto";

/** How often a text must come before it gets a name: one that comes once would cost more. */
const USES = 3;

/**
 * Every connection keeps its statements for as long as it lives, and filters may come from users,
 * so there is an end to both.
 */
const MAX_NAMES = 64;
const MAX_COUNTED = 1000;

/**
 * Names the statements that come again and again. The server keeps a statement with a name parsed,
 * and mostly planned, which for a list of documents takes longer than reading them.
 */
export class StatementNames {
  readonly #prefix: string;
  readonly #names = new Map<string, string>();
  readonly #uses = new Map<string, number>();

  /** Takes what the names begin with. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Gives the name of a statement; `undefined` for one that is to be forgotten. */
  nameOf(text: string): string | undefined {
    const name = this.#names.get(text);
    if (name !== undefined || this.#names.size === MAX_NAMES) return name;
    const uses = (this.#uses.get(text) ?? 0) + 1;
    if (uses < USES) {
      if (this.#uses.size === MAX_COUNTED) this.#uses.clear();
      this.#uses.set(text, uses);
      return undefined;
    }
    this.#uses.delete(text);
    return this.#add(text);
  }

  /** The same text has the same name in every process, and no other one has it. */
  #add(text: string): string {
    const name = `${this.#prefix}:${createHash("sha256").update(text).digest("hex").slice(0, 32)}`;
    this.#names.set(text, name);
    if (this.#names.size === MAX_NAMES) this.#uses.clear();
    return name;
  }
}
