import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { repositoryOf } from "../scripts/published-manifest.ts";
import { readManifest, readText, root } from "../scripts/workspace-packages.ts";
import { moveLinks } from "./move-links.ts";
import { sitePages } from "./site-pages.ts";

/** The Markdown that VitePress builds the site from; git ignores it. */
export const staged: string = join(import.meta.dirname, "pages");

/**
 * Writes the pages of the repository's Markdown files and the start page, with links that work on
 * the site.
 */
export function stagePages(): void {
  const all = sitePages();
  const pages = new Map(all.map(({ source, page }) => [source, page]));
  const pictures = new Set<string>();
  rmSync(staged, { recursive: true, force: true });
  for (const { source, page, section } of all) {
    const text = moveLinks(
      readText(source),
      source,
      { pages, repository: repositoryOf(root) },
      (file) => pictures.add(file),
    );
    // Tables of figures would be found instead of the pages that explain them.
    const head = section === undefined ? "---\nsearch: false\n---\n\n" : "";
    write(page, head + forVitePress(text) + referenceLink(source));
  }
  write("index.md", readFileSync(join(import.meta.dirname, "index.md"), "utf8"));
  for (const file of pictures) {
    const target = join(staged, "pictures", basename(file));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(root, file), target);
  }
}

/** The end of a package's page: where each of its names is explained. */
function referenceLink(source: string): string {
  const folder = /^(packages\/[^/]+)\/README\.md$/.exec(source)?.[1];
  if (folder === undefined) return "";
  const { name, exports = {} } = readManifest(folder);
  // A program has no names.
  if (!("." in exports)) return "";
  return `\n## API reference\n\n[Every name of \`${name}\`](../../reference/${name}.md), with its parameters and errors.\n`;
}

/**
 * Changes Markdown where VitePress reads more into it than GitHub: `{{ … }}` outside of code is a
 * value of Vue, and a tag at the start of a line is one, also inside of code.
 */
export function forVitePress(markdown: string): string {
  return markdown.replace(
    /^(`{3,})[^]*?^\1[ \t]*$|(?<!`)`(?:[^`\n]|\n(?!\n))+`(?!`)|\{\{/gm,
    (match) => {
      if (match.startsWith("```")) return match;
      return match === "{{" ? "&#123;&#123;" : match.replaceAll("\n", " ");
    },
  );
}

function write(page: string, text: string): void {
  const file = join(staged, page);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
