import type { Placed } from "./read-page.ts";

/** Facts about a style sheet, for other files. */
export interface StyleFacts {
  /** `url()` and `@import`. */
  readonly references: readonly Placed[];
  readonly ids: ReadonlySet<string>;
  readonly classes: ReadonlySet<string>;
  readonly variablesSet: ReadonlySet<string>;
  /** Fault of the sheet's brackets. */
  readonly fault: Placed | undefined;
}

/** Blanks replace comments and strings, so that they are no selectors and lines stay. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, " ");
}

/** Reads a style sheet as far as other files have to do with it. */
export function readStyle(source: string): StyleFacts {
  const withoutComments = source.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, blank);
  const references: Placed[] = [];
  const lineAt = lineCounter(source);
  for (const match of withoutComments.matchAll(
    /\burl\(\s*(?:"([^"\n]*)"|'([^'\n]*)'|([^()"'\s]{1,2000}))\s*\)|@import\s+(?:"([^"\n]*)"|'([^'\n]*)')/g,
  )) {
    const text = match.slice(1).find((group) => group !== undefined) ?? "";
    references.push({ text, line: lineAt(match.index) });
  }
  // Unclosed strings and `url(` are taken as far as they go, as browsers do. A new search from each
  // of their characters would be too slow for long texts.
  const bare = withoutComments
    .replace(/"(?:[^"\\\n]|\\[^])*"?|'(?:[^'\\\n]|\\[^])*'?/g, blank)
    .replace(/\burl\([^)]*\)?/g, blank);
  const ids = new Set<string>();
  const classes = new Set<string>();
  for (const selector of selectorsOf(bare)) {
    for (const [, sign, name = ""] of selector.matchAll(/([#.])(-?[A-Za-z_][\w-]*)/g)) {
      (sign === "#" ? ids : classes).add(name);
    }
  }
  const variablesSet = new Set<string>();
  for (const [, name = ""] of bare.matchAll(/(?<![\w-])(--[\w-]+)\s*:/g)) variablesSet.add(name);
  for (const [, name = ""] of bare.matchAll(/@property\s+(--[\w-]+)/g)) variablesSet.add(name);
  return { references, ids, classes, variablesSet, fault: bracketFault(bare, lineAt) };
}

/** Text before each `{`: selectors, and at-rules, which have no ids. */
function selectorsOf(bare: string): readonly string[] {
  const selectors: string[] = [];
  let start = 0;
  for (let index = 0; index < bare.length; index += 1) {
    const sign = bare[index];
    if (sign === "{") {
      const text = bare.slice(start, index);
      if (!/^\s*@(?!scope|container)/.test(text)) selectors.push(text);
    }
    if (sign === "{" || sign === "}" || sign === ";") start = index + 1;
  }
  return selectors;
}

function bracketFault(bare: string, lineAt: (index: number) => number): Placed | undefined {
  const open: number[] = [];
  for (let index = 0; index < bare.length; index += 1) {
    if (bare[index] === "{") open.push(index);
    if (bare[index] === "}" && open.pop() === undefined) {
      return { text: "a } without a {", line: lineAt(index) };
    }
  }
  const last = open.at(-1);
  return last === undefined ? undefined : { text: "a { without a }", line: lineAt(last) };
}

function lineCounter(source: string): (index: number) => number {
  const breaks: number[] = [];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) breaks.push(at);
  return (index) => {
    let [low, high] = [0, breaks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((breaks[middle] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
