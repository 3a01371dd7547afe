/** The texts of a Markdown file's fenced code blocks of one language. */
export function codeBlocks(markdown: string, language: string): readonly string[] {
  const fence = /^(`{3,})([^\n`]*)\n([\s\S]*?)^\1[ \t]*$/gm;
  return [...markdown.matchAll(fence)].flatMap(([, , info = "", text = ""]) =>
    info.trim() === language ? [text] : [],
  );
}

/**
 * Joins a README's code blocks to modules as a reader does: a block without an import goes on from the one before.
 */
export function joinBlocks(blocks: readonly string[]): readonly string[] {
  const modules: string[] = [];
  for (const block of blocks) {
    const last = modules.at(-1);
    if (last === undefined || /^import\b/m.test(block)) modules.push(block);
    else modules[modules.length - 1] = `${last}\n${block}`;
  }
  return modules;
}

/** The rows of every table in a Markdown file, heads and rules left out, each as its trimmed cells. */
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
