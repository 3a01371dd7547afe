/** Fault of an answer that cannot become a file. */
export type ExtractProblem =
  /** There is nothing in it. */
  | "empty"
  /** A fence is not closed: the answer was cut. */
  | "unclosed"
  /** Several blocks may be the file. */
  | "ambiguous";

/** The source text in an answer. */
export interface ExtractResult {
  /** The text, ending with a line feed unless it is empty. */
  readonly code: string;
  /** Whether it is the whole answer or the inside of a fence. */
  readonly from: "answer" | "fence";
  /** Why it must not be written. Undefined: it may. */
  readonly problem: ExtractProblem | undefined;
}

interface Block {
  readonly info: string;
  readonly content: readonly string[];
  readonly first: number;
  /** Index of the closing line; undefined: there is none. */
  readonly last: number | undefined;
}

/**
 * Takes the source of one file out of a model's answer: the answer itself, or the fenced block
 * (CommonMark 4.5) that is meant. Lines inside of code, also fences in comments, strings and
 * Markdown, stay what they are.
 */
export function extractCode(answer: string, filePath: string): ExtractResult {
  const text = withoutThoughts(answer.replace(/^\uFEFF/, ""));
  const lines = text.split("\n");
  const blocks = findBlocks(lines);
  const wrapper = isMarkdown(filePath) ? markdownWrapper(lines, blocks) : undefined;
  if (wrapper !== undefined) return finish(wrapper.content, wrapper.last);
  if (isMarkdown(filePath) || blocks.length === 0 || hasCodeOutside(lines, blocks)) {
    return whole(text);
  }
  return fromBlocks(blocks, lines, filePath);
}

/** Local models put what they thought before the answer. */
function withoutThoughts(text: string): string {
  const start = /^\s*<think(?:ing)?>/.exec(text);
  if (start === null) return text;
  const end = /<\/think(?:ing)?>[ \t]*\n?/.exec(text);
  return end === null ? "" : text.slice(end.index + end[0].length);
}

function whole(text: string): ExtractResult {
  const code = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return { code, from: "answer", problem: text.trim() === "" ? "empty" : undefined };
}

function finish(content: readonly string[], last: number | undefined): ExtractResult {
  const code = content.map((line) => `${line}\n`).join("");
  const empty = code.trim() === "" ? "empty" : undefined;
  return { code, from: "fence", problem: last === undefined ? "unclosed" : empty };
}

interface Fence {
  readonly indent: number;
  readonly mark: string;
  readonly info: string;
}

function readFence(line: string): Fence | undefined {
  const [, blanks = "", mark, rest = ""] = /^( {0,3})(`{3,}|~{3,})([^\r\n]*)\r?$/.exec(line) ?? [];
  if (mark === undefined || (mark.startsWith("`") && rest.includes("`"))) return undefined;
  return { indent: blanks.length, mark, info: rest.trim() };
}

function closes(line: string, { mark }: Fence): boolean {
  const fence = readFence(line);
  return (
    fence !== undefined &&
    fence.info === "" &&
    fence.mark[0] === mark[0] &&
    fence.mark.length >= mark.length
  );
}

/** The blocks of an answer. A fence with a language inside of one opens a nested block. */
function findBlocks(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const fence = readFence(lines[index] ?? "");
    if (fence === undefined) continue;
    const last = findClosing(lines, index, fence);
    const content = lines.slice(index + 1, last ?? lines.length);
    blocks.push({
      info: fence.info,
      content: content.map((line) => unindent(line, fence.indent)),
      first: index,
      last,
    });
    if (last === undefined) break;
    index = last;
  }
  return blocks;
}

function findClosing(lines: readonly string[], first: number, fence: Fence): number | undefined {
  let depth = 0;
  let shallow: number | undefined;
  for (let index = first + 1; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    if (closes(line, fence)) {
      if (depth === 0) return index;
      depth -= 1;
      shallow = index;
      continue;
    }
    const inner = readFence(line);
    if (inner === undefined || inner.info === "") continue;
    if (inner.mark[0] === fence.mark[0] && inner.mark.length >= fence.mark.length) depth += 1;
  }
  // Nothing closed what seemed to be inside: then it was not inside, and the last bare fence closes
  // ours.
  return shallow;
}

function unindent(line: string, indent: number): string {
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  return line.slice(Math.min(blanks, indent));
}

function isMarkdown(path: string): boolean {
  return /\.(?:md|mdx|markdown)$/i.test(path);
}

/** The block around a whole Markdown file: it opens or ends the answer and says Markdown. */
function markdownWrapper(lines: readonly string[], blocks: readonly Block[]): Block | undefined {
  const [block] = blocks;
  if (block === undefined || !isBlank(lines.slice(0, block.first))) return undefined;
  const language = /^[\w+-]*/.exec(block.info)?.[0].toLowerCase() ?? "";
  if (!["md", "mdx", "markdown"].includes(language)) return undefined;
  const fence = readFence(lines[block.first] ?? "");
  if (fence === undefined) return undefined;
  // Blocks without a language inside look like the end: the last bare fence is, if only blank lines
  // follow.
  const end = lines.findLastIndex((line) => line.trim() !== "");
  if (end <= block.first || !closes(lines[end] ?? "", fence)) return block;
  return { ...block, content: lines.slice(block.first + 1, end), last: end };
}

/** Whether a line outside of all blocks is code: then blocks are parts of the file. */
function hasCodeOutside(lines: readonly string[], blocks: readonly Block[]): boolean {
  const outside = lines.slice(0, blocks[0]?.first ?? 0);
  return outside.some((line) => looksLikeCode(line));
}

const codeStarts =
  /^(?:import\b.*["'<(;]|import \w+$|from \S+ import\b|export\b|(?:const|let|var) \w|(?:async )?function\b.*\(|class \w+.*[{:(]|def \w+\(|package \w+;?$|use [\w:]+|#include|#!|\/\/|\/\*|<!doctype|<html|<\?|"""|'''|@\w+\(?|return\b|if ?\(|for ?\()/i;

function looksLikeCode(line: string): boolean {
  const text = line.trim();
  if (text === "") return false;
  return codeStarts.test(text) || /(?:[;{}]|=>|\)\s*:)$/.test(text);
}

function isBlank(lines: readonly string[]): boolean {
  return lines.every((line) => line.trim() === "");
}

function fromBlocks(
  blocks: readonly Block[],
  lines: readonly string[],
  path: string,
): ExtractResult {
  const [only] = blocks;
  if (blocks.length === 1 && only !== undefined) return finish(only.content, only.last);
  const named = blocks.filter((block) => names(block, lines, path));
  const spoken = blocks.filter(({ info }) => isLanguageOf(info, path));
  const candidates = [named, spoken].find(({ length }) => length > 0) ?? blocks;
  const [first] = candidates;
  if (first === undefined) return { code: "", from: "fence", problem: "empty" };
  const result = finish(first.content, first.last);
  // A block that is not closed is the end of a cut answer, whichever block was meant.
  if (blocks.some(({ last }) => last === undefined)) return { ...result, problem: "unclosed" };
  return candidates.length === 1 ? result : { ...result, problem: "ambiguous" };
}

/** Whether a block, or the line before it, names the file. */
function names({ info, first }: Block, lines: readonly string[], path: string): boolean {
  if (mentions(info, path)) return true;
  const before = lines.slice(0, first).findLast((line) => line.trim() !== "");
  return before !== undefined && mentions(before, path);
}

function mentions(text: string, path: string): boolean {
  const at = text.indexOf(path);
  return (
    at !== -1 &&
    !/[\w./-]/.test(text.charAt(at + path.length)) &&
    !/[\w./-]/.test(text.charAt(at - 1))
  );
}

const languages: Readonly<Record<string, readonly string[]>> = {
  cjs: ["js", "javascript", "node"],
  css: ["css"],
  go: ["go", "golang"],
  html: ["html"],
  js: ["js", "javascript", "node", "jsx"],
  json: ["json", "jsonc"],
  jsx: ["jsx", "js", "javascript"],
  mjs: ["js", "javascript", "node"],
  mts: ["ts", "typescript"],
  py: ["py", "python"],
  rb: ["rb", "ruby"],
  rs: ["rs", "rust"],
  sh: ["sh", "bash", "shell"],
  ts: ["ts", "typescript"],
  tsx: ["tsx", "ts", "typescript"],
  yml: ["yml", "yaml"],
};

function isLanguageOf(info: string, path: string): boolean {
  const language = /^[\w+#-]+/.exec(info)?.[0].toLowerCase();
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
  if (language === undefined || extension === undefined) return false;
  return language === extension || (languages[extension]?.includes(language) ?? false);
}
