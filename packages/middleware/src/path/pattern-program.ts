import { MiddlewareError } from "../errors.ts";
import type { CodeSet, PatternAssertion, PatternNode, ParsedPattern } from "./pattern-syntax.ts";

/** What a step of a program does; `x` and `y` are its operands. */
export const operations = {
  /** The next character is `x`. */
  character: 0,
  /** The next character is in set `x`. */
  set: 1,
  /** Go on at `x`, and with less priority at `y`. */
  split: 2,
  jump: 3,
  /** Keep the position in slot `x`. */
  save: 4,
  /** Go on if assertion `x` holds. */
  assert: 5,
  match: 6,
} as const;

/** Assertions by the number that stands in a program. */
export const assertions: readonly PatternAssertion[] = ["start", "end", "boundary", "no-boundary"];

/** A pattern as steps: three numbers each, in one array. */
export interface PatternProgram {
  readonly code: Int32Array;
  readonly sets: readonly CodeSet[];
  readonly length: number;
  readonly slots: number;
}

const maxLength = 1000;
// Parts without steps of their own can be repeated too; so compiling is bounded by itself.
const maxVisits = 20_000;

/**
 * Turns a pattern into the steps of a machine without backtracking (Thompson's construction).
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` when its repetitions make it too large
 */
export function compilePattern(pattern: ParsedPattern): PatternProgram {
  const builder = new ProgramBuilder();
  builder.add({ type: "group", index: 0, node: pattern.node });
  builder.emit(operations.match);
  return {
    code: Int32Array.from(builder.code),
    sets: builder.sets,
    length: builder.code.length / 3,
    slots: (pattern.groupCount + 1) * 2,
  };
}

class ProgramBuilder {
  readonly code: number[] = [];
  readonly sets: CodeSet[] = [];
  #visits = 0;

  emit(operation: number, x = 0, y = 0): number {
    const step = this.#next();
    this.code.push(operation, x, y);
    if (step >= maxLength) throw tooLarge();
    return step;
  }

  add(node: PatternNode): void {
    this.#visits += 1;
    if (this.#visits > maxVisits) throw tooLarge();
    switch (node.type) {
      case "character":
        this.emit(operations.character, node.code);
        break;
      case "set":
        this.emit(operations.set, this.sets.push(node.codes) - 1);
        break;
      case "assertion":
        this.emit(operations.assert, assertions.indexOf(node.kind));
        break;
      case "sequence":
        for (const part of node.nodes) this.add(part);
        break;
      case "choice":
        this.#addChoice(node.nodes);
        break;
      case "group":
        this.emit(operations.save, node.index * 2);
        this.add(node.node);
        this.emit(operations.save, node.index * 2 + 1);
        break;
      case "repeat":
        this.#addRepeat(node);
        break;
    }
  }

  #addChoice(nodes: readonly PatternNode[]): void {
    const jumps: number[] = [];
    nodes.forEach((node, index) => {
      if (index === nodes.length - 1) {
        this.add(node);
        return;
      }
      const split = this.emit(operations.split);
      this.add(node);
      jumps.push(this.emit(operations.jump));
      this.#point(split, split + 1, this.#next());
    });
    for (const jump of jumps) this.#point(jump, this.#next());
  }

  #addRepeat({ node, count }: Extract<PatternNode, { type: "repeat" }>): void {
    const { least, most, isGreedy } = count;
    for (let index = 0; index < least; index += 1) this.add(node);
    const fork = (split: number, body: number, exit: number): void =>
      isGreedy ? this.#point(split, body, exit) : this.#point(split, exit, body);
    if (most === Infinity) {
      const split = this.emit(operations.split);
      this.add(node);
      this.emit(operations.jump, split);
      fork(split, split + 1, this.#next());
      return;
    }
    const splits: number[] = [];
    for (let index = least; index < most; index += 1) {
      splits.push(this.emit(operations.split));
      this.add(node);
    }
    for (const split of splits) fork(split, split + 1, this.#next());
  }

  #next(): number {
    return this.code.length / 3;
  }

  #point(step: number, x: number, y = 0): void {
    this.code[step * 3 + 1] = x;
    this.code[step * 3 + 2] = y;
  }
}

function tooLarge(): MiddlewareError {
  return new MiddlewareError(
    "ERR_MIDDLEWARE_PATTERN",
    `the pattern needs more than ${maxLength} steps; repeat less`,
  );
}
