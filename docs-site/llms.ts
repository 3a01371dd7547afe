import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sitePages, type SitePage } from "./site-pages.ts";
import { staged } from "./stage-pages.ts";

/** Folder of the built site. */
export const built: string = join(import.meta.dirname, "dist");

/**
 * Writes what programs read: the Markdown of each page next to its HTML, `llms.txt` with a line for
 * each page, and `llms-full.txt` with the text of the pages, without the API reference.
 */
export function writeForPrograms(): void {
  for (const page of globSync("**/*.md", { cwd: staged })) {
    // Anchors are for VitePress.
    writeFileSync(join(built, page), textOf(page).replaceAll(/^(#+ .*) \{#[^}]+\}$/gm, "$1"));
  }
  const listed = sitePages().filter(({ section }) => section !== undefined);
  const sections = [...Map.groupBy(listed, ({ section }) => section)].map(
    ([section, pages]) => `## ${section}\n\n${pages.map(lineOf).join("\n")}\n`,
  );
  const summary = /^\*\*(.+?)\*\*([^]*?)\n\n/m.exec(textOf("overview.md"));
  const head = `# Fetchwork\n\n> ${oneLine(`${summary?.[1] ?? ""}${summary?.[2] ?? ""}`)}\n`;
  const reference = "## API\n\n- [API reference](/reference/index.md): a page for each entry\n";
  const pages = listed.map(({ page }) => textOf(page));
  writeFileSync(join(built, "llms.txt"), [head, ...sections, reference].join("\n"));
  writeFileSync(join(built, "llms-full.txt"), [head, ...pages].join("\n"));
}

function lineOf({ title, page }: SitePage): string {
  const prose = textOf(page).replaceAll(/^(?:#|!\[|\||<!--|```[^]*?^```).*$/gm, "");
  const sentence = /\S(?:[^\n]|\n(?!\n))*?\.(?=\s|$)/.exec(prose)?.[0] ?? "";
  const description = oneLine(sentence.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1"));
  return `- [${title}](/${page})${description === "" ? "" : `: ${description.replace(/\.$/, "")}`}`;
}

function textOf(page: string): string {
  return readFileSync(join(staged, page), "utf8");
}

function oneLine(text: string): string {
  return text.replaceAll("**", "").replaceAll(/\s+/g, " ").trim();
}
