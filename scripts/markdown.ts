/** A fenced code block. */
interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

/** A Markdown file's fenced code blocks, in their order. */
export function allCodeBlocks(markdown: string): readonly CodeBlock[] {
  const fence = /^(`{3,})([^\n`]*)\n([\s\S]*?)^\1[ \t]*$/gm;
  return Array.from(markdown.matchAll(fence), ([, , info = "", text = ""]) => ({
    language: info.trim(),
    text,
  }));
}

/** The texts of a Markdown file's fenced code blocks of one language. */
export function codeBlocks(markdown: string, language: string): readonly string[] {
  return allCodeBlocks(markdown).flatMap((block) =>
    block.language === language ? [block.text] : [],
  );
}

/**
 * The rows of every table in a Markdown file, heads and rules left out, each as its trimmed cells.
 */
export function tableRows(markdown: string): readonly (readonly string[])[] {
  const tables = /^\|.*\|[ \t]*\n\|[ :|-]+\|[ \t]*\n((?:\|.*\|[ \t]*(?:\n|$))*)/gm;
  return [...markdown.matchAll(tables)].flatMap(([, body = ""]) =>
    body
      .trim()
      .split("\n")
      .filter((line) => line !== "")
      .map((line) =>
        line
          .trim()
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.trim()),
      ),
  );
}
