import { assertions, compilePattern, operations, type PatternProgram } from "./pattern-program.ts";
import { parsePattern } from "./pattern-syntax.ts";

/** Steps that matching one path may take. */
export interface MatchBudget {
  /** Counted down; below zero the match is given up. */
  steps: number;
}

/** Threads of a machine at one position, in order of priority, each with its slots. */
interface ThreadList {
  readonly order: Int32Array;
  readonly index: Int32Array;
  readonly slots: Int32Array;
  size: number;
}

/**
 * A regular expression that never backtracks: it looks at each character once, with all ways to go on at the same time
 * (Pike's machine), so no text makes it slow. Finds what a backtracking engine finds first.
 */
export class LinearPattern {
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
  readonly #program: PatternProgram;
  readonly #stack: Int32Array;
  readonly #scratch: Int32Array;
  readonly #isAnchored: boolean;
  /** What a stored thread costs, in steps. */
  readonly #cost: number;
  #current: ThreadList;
  #next: ThreadList;
  #budget: MatchBudget = { steps: 0 };
  #text = "";

  /** @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` */
  constructor(source: string, options: { readonly ignoreCase: boolean } = { ignoreCase: false }) {
    const pattern = parsePattern(source, options);
    this.groupCount = pattern.groupCount;
    this.groupNames = pattern.groupNames;
    this.#program = compilePattern(pattern);
    const { code, length, slots } = this.#program;
    this.#stack = new Int32Array(length * 6);
    this.#scratch = new Int32Array(slots);
    this.#isAnchored = code[3] === operations.assert && code[4] === assertions.indexOf("start");
    this.#cost = 1 + (slots >> 3);
    this.#current = makeList(this.#program);
    this.#next = makeList(this.#program);
  }

  /**
   * Finds the first match from a position on: start and end of the match, and of each group, or -1. Gives `undefined`
   * when there is none, or when the budget is used up.
   */
  find(text: string, from: number, budget: MatchBudget): Int32Array | undefined {
    const { code, sets, slots } = this.#program;
    this.#text = text;
    this.#budget = budget;
    this.#current.size = 0;
    let found: Int32Array | undefined;
    for (let position = from; budget.steps >= 0; position += 1) {
      if (found === undefined && (!this.#isAnchored || position === 0)) {
        this.#scratch.fill(-1);
        this.#follow(this.#current, 0, position);
      }
      const current = this.#current;
      const next = this.#next;
      if (current.size === 0 && (found !== undefined || this.#isAnchored)) break;
      next.size = 0;
      const character = position < text.length ? text.charCodeAt(position) : -1;
      budget.steps -= current.size;
      for (let index = 0; index < current.size; index += 1) {
        const step = current.order[index] ?? 0;
        const operation = code[step * 3];
        const operand = code[step * 3 + 1] ?? 0;
        if (operation === operations.match) {
          found = current.slots.slice(step * slots, (step + 1) * slots);
          break; // The threads after it have less priority.
        }
        const accepts =
          operation === operations.character
            ? character === operand
            : operation === operations.set &&
              character >= 0 &&
              sets[operand]?.[character < 128 ? character : 128] === 1;
        if (accepts) {
          for (let slot = 0; slot < slots; slot += 1) {
            this.#scratch[slot] = current.slots[step * slots + slot] ?? -1;
          }
          this.#follow(next, step + 1, position + 1);
        }
      }
      this.#current = next;
      this.#next = current;
      if (position >= text.length) break;
    }
    return budget.steps < 0 ? undefined : found;
  }

  /** Adds to a list all threads that are reached without a character. The scratch slots are the thread's. */
  #follow(list: ThreadList, start: number, position: number): void {
    const { code, slots } = this.#program;
    const stack = this.#stack;
    const scratch = this.#scratch;
    // Two numbers an entry: a step to visit; or a slot to restore, as -1 - slot, and its value.
    let top = 0;
    stack[top] = start;
    top += 2;
    while (top > 0) {
      top -= 2;
      let step = stack[top] ?? 0;
      if (step < 0) {
        scratch[-1 - step] = stack[top + 1] ?? -1;
        continue;
      }
      for (;;) {
        const known = list.index[step] ?? 0;
        if (known < list.size && list.order[known] === step) break;
        list.index[step] = list.size;
        list.order[list.size] = step;
        this.#budget.steps -= this.#cost;
        const operation = code[step * 3];
        const x = code[step * 3 + 1] ?? 0;
        list.size += 1;
        if (operation === operations.jump) {
          step = x;
        } else if (operation === operations.split) {
          stack[top] = code[step * 3 + 2] ?? 0;
          top += 2;
          step = x;
        } else if (operation === operations.save) {
          stack[top] = -1 - x;
          stack[top + 1] = scratch[x] ?? -1;
          top += 2;
          scratch[x] = position;
          step += 1;
        } else if (operation === operations.assert) {
          if (!this.#holds(x, position)) break;
          step += 1;
        } else {
          for (let slot = 0; slot < slots; slot += 1) {
            list.slots[step * slots + slot] = scratch[slot] ?? -1;
          }
          break;
        }
      }
    }
  }

  #holds(assertion: number, position: number): boolean {
    const kind = assertions[assertion];
    if (kind === "start") return position === 0;
    if (kind === "end") return position === this.#text.length;
    const isBoundary = isWord(this.#text, position - 1) !== isWord(this.#text, position);
    return isBoundary === (kind === "boundary");
  }
}

function makeList({ length, slots }: PatternProgram): ThreadList {
  return {
    order: new Int32Array(length),
    index: new Int32Array(length),
    slots: new Int32Array(length * slots),
    size: 0,
  };
}

function isWord(text: string, position: number): boolean {
  return /\w/.test(text.charAt(position));
}
