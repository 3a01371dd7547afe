import { MiddlewareError } from "../errors.ts";

/** A part of a parsed pattern. */
export type PatternNode =
  | { readonly type: "character"; readonly code: number }
  | { readonly type: "set"; readonly codes: CodeSet }
  | { readonly type: "assertion"; readonly kind: PatternAssertion }
  | { readonly type: "sequence"; readonly nodes: readonly PatternNode[] }
  | { readonly type: "choice"; readonly nodes: readonly PatternNode[] }
  | { readonly type: "group"; readonly index: number; readonly node: PatternNode }
  | { readonly type: "repeat"; readonly node: PatternNode; readonly count: RepeatCount };

/** How often a part may occur. */
export interface RepeatCount {
  readonly least: number;
  /** May be `Infinity`. */
  readonly most: number;
  readonly isGreedy: boolean;
}

/** A condition on a place between two characters. */
export type PatternAssertion = "start" | "end" | "boundary" | "no-boundary";

/** Which codes a set has: 0 to 127, and at 128 whether it has all others. */
export type CodeSet = Uint8Array;

/** A parsed pattern. */
export interface ParsedPattern {
  readonly node: PatternNode;
  readonly groupCount: number;
  readonly groupNames: ReadonlyMap<string, number>;
}

const maxLength = 1000;
const maxGroups = 20;
const maxRepeat = 100;

/**
 * Parses the part of the syntax of regular expressions that can be matched in linear time: characters, `.`, classes,
 * groups (also `(?:…)` and named ones), alternation, `* + ? {n,m}` and their lazy forms, `^ $ \b \B`.
 *
 * @throws MiddlewareError `ERR_MIDDLEWARE_PATTERN` for back-references, look-around and everything else
 */
export function parsePattern(
  source: string,
  options: { readonly ignoreCase: boolean },
): ParsedPattern {
  if (source.length > maxLength) {
    throw new MiddlewareError(
      "ERR_MIDDLEWARE_PATTERN",
      `the pattern has ${source.length} characters, expected ${maxLength} at most`,
    );
  }
  return new PatternParser(source, options.ignoreCase).parse();
}

class PatternParser {
  readonly #source: string;
  readonly #ignoreCase: boolean;
  readonly #names = new Map<string, number>();
  #position = 0;
  #groupCount = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#ignoreCase = ignoreCase;
  }

  parse(): ParsedPattern {
    const node = this.#choice();
    if (this.#position < this.#source.length)
      throw this.#error("a parenthesis that nothing opened");
    return { node, groupCount: this.#groupCount, groupNames: this.#names };
  }

  #choice(): PatternNode {
    const nodes = [this.#sequence()];
    while (this.#take("|")) nodes.push(this.#sequence());
    return nodes.length === 1 && nodes[0] !== undefined ? nodes[0] : { type: "choice", nodes };
  }

  #sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    while (this.#position < this.#source.length && !/[|)]/.test(this.#peek())) {
      nodes.push(this.#repeat(this.#atom()));
    }
    return { type: "sequence", nodes };
  }

  #repeat(node: PatternNode): PatternNode {
    const count = this.#count();
    if (count === undefined) return node;
    if (node.type === "assertion") throw this.#error("a repeated assertion");
    if (this.#count() !== undefined || this.#take("+")) throw this.#error("a repeated repetition");
    return { type: "repeat", node, count };
  }

  #count(): RepeatCount | undefined {
    let range: readonly [number, number];
    if (this.#take("*")) range = [0, Infinity];
    else if (this.#take("+")) range = [1, Infinity];
    else if (this.#take("?")) range = [0, 1];
    else if (this.#peek() === "{") range = this.#bounds();
    else return undefined;
    return { least: range[0], most: range[1], isGreedy: !this.#take("?") };
  }

  #bounds(): readonly [number, number] {
    const match = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#source.slice(this.#position));
    if (match === null) throw this.#error("a brace that is no repetition; write \\{");
    const least = Number(match[1]);
    const most = match[2] === undefined ? least : match[3] === "" ? Infinity : Number(match[3]);
    if (least > most) throw this.#error("a repetition whose numbers are out of order");
    if (least > maxRepeat || (most > maxRepeat && most !== Infinity)) {
      throw this.#error(`a repetition of more than ${maxRepeat}`);
    }
    this.#position += match[0].length;
    return [least, most];
  }

  #atom(): PatternNode {
    if (this.#take("(")) return this.#group();
    if (this.#take("[")) return { type: "set", codes: this.#class() };
    if (this.#take("^")) return { type: "assertion", kind: "start" };
    if (this.#take("$")) return { type: "assertion", kind: "end" };
    if (this.#take(".")) return { type: "set", codes: codeSet(() => true) };
    if (/[*+?{]/.test(this.#peek())) throw this.#error("a repetition of nothing");
    if (this.#take("\\")) {
      if (this.#take("b")) return { type: "assertion", kind: "boundary" };
      if (this.#take("B")) return { type: "assertion", kind: "no-boundary" };
      const escaped = this.#escape();
      return typeof escaped === "number"
        ? this.#character(escaped)
        : { type: "set", codes: escaped };
    }
    return this.#character(this.#code());
  }

  #group(): PatternNode {
    let name: string | undefined;
    let isCapturing = true;
    if (this.#take("?")) {
      const named = /^P?<([A-Za-z_]\w*)>/.exec(this.#source.slice(this.#position));
      name = named?.[1];
      this.#position += named?.[0].length ?? 0;
      isCapturing = named !== null;
      if (!isCapturing && !this.#take(":")) {
        throw this.#error("a kind of group that cannot be matched in linear time, or is unknown");
      }
    }
    const index = isCapturing ? (this.#groupCount += 1) : 0;
    if (index > maxGroups) throw this.#error(`more than ${maxGroups} groups`);
    if (name !== undefined) {
      if (this.#names.has(name)) throw this.#error("two groups of one name");
      this.#names.set(name, index);
    }
    const node = this.#choice();
    if (!this.#take(")")) throw this.#error("a parenthesis that is not closed");
    return isCapturing ? { type: "group", index, node } : node;
  }

  #class(): CodeSet {
    const isNegated = this.#take("^");
    const codes = new Uint8Array(129);
    for (let isFirst = true; isFirst || !this.#take("]"); isFirst = false) {
      if (this.#position >= this.#source.length) throw this.#error("a class that is not closed");
      const from = this.#classAtom();
      const isRange = this.#peek() === "-" && !/^-(\]|$)/.test(this.#source.slice(this.#position));
      if (typeof from !== "number") {
        if (isRange) throw this.#error("a range of a set");
        for (const [code, has] of from.entries()) if (has === 1) codes[code] = 1;
        continue;
      }
      let to = from;
      if (isRange) {
        this.#position += 1;
        const end = this.#classAtom();
        if (typeof end !== "number" || end < from) throw this.#error("a range out of order");
        to = end;
      }
      for (let code = from; code <= to; code += 1) {
        for (const variant of this.#variants(code)) codes[variant] = 1;
      }
    }
    return isNegated ? codes.map((has) => 1 - has) : codes;
  }

  #classAtom(): number | CodeSet {
    return this.#take("\\") ? this.#escape() : this.#code();
  }

  #escape(): number | CodeSet {
    const character = this.#peek();
    const known = escapedSets[character.toLowerCase()];
    if (known !== undefined) {
      this.#position += 1;
      const isNegated = character !== character.toLowerCase();
      return isNegated ? known.map((has) => 1 - has) : known;
    }
    const hex = /^x([0-7][\da-fA-F])/.exec(this.#source.slice(this.#position));
    if (hex !== null) {
      this.#position += 3;
      return Number.parseInt(hex[1] ?? "", 16);
    }
    if (character === "" || /[\dA-Za-z]/.test(character)) {
      throw this.#error("an escape that cannot be matched in linear time, or is unknown");
    }
    return this.#code();
  }

  #character(code: number): PatternNode {
    const variants = this.#variants(code);
    if (variants.length === 1) return { type: "character", code };
    return { type: "set", codes: codeSet((other) => variants.includes(other)) };
  }

  #variants(code: number): readonly number[] {
    const character = String.fromCharCode(code);
    if (!this.#ignoreCase || !/[A-Za-z]/.test(character)) return [code];
    return [character.toLowerCase().charCodeAt(0), character.toUpperCase().charCodeAt(0)];
  }

  #code(): number {
    const code = this.#source.charCodeAt(this.#position);
    if (code > 127) {
      throw this.#error("a character above U+007F; paths have it percent-encoded, such as %C3%A9");
    }
    this.#position += 1;
    return code;
  }

  #peek(): string {
    return this.#source.charAt(this.#position);
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#position += 1;
    return true;
  }

  #error(what: string): MiddlewareError {
    return new MiddlewareError(
      "ERR_MIDDLEWARE_PATTERN",
      `the pattern ${JSON.stringify(this.#source.slice(0, 100))} has ${what}, at ${this.#position}`,
    );
  }
}

function codeSet(has: (code: number) => boolean): CodeSet {
  return Uint8Array.from({ length: 129 }, (_, code) => (has(code) ? 1 : 0));
}

const escapedSets: Readonly<Record<string, CodeSet>> = {
  d: codeSet((code) => code >= 48 && code <= 57),
  s: codeSet((code) => code === 32 || (code >= 9 && code <= 13)),
  w: codeSet((code) => /\w/.test(String.fromCharCode(code)) && code < 128),
};
