import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeForPrograms } from "./llms.ts";
import { forVitePress, staged, stagePages } from "./stage-pages.ts";

const site = import.meta.dirname;

/** Whether the tools of the site are installed. */
export const isInstalled: boolean = existsSync(join(site, "node_modules/vitepress/package.json"));

/** Builds the site to `docs-site/dist`. */
export function buildSite(): void {
  stagePages();
  run("typedoc/bin/typedoc", "--options", "typedoc.config.mjs", "--logLevel", "Error");
  for (const page of globSync(join(staged, "reference/**/*.md"))) {
    writeFileSync(page, forVitePress(withAnchors(readFileSync(page, "utf8"))));
  }
  run("vitepress/bin/vitepress.js", "build", ".");
  writeForPrograms();
}

/** Writes an anchor of TypeDoc as VitePress has it: with the heading, whose anchor it is. */
function withAnchors(markdown: string): string {
  return markdown.replaceAll(/^<a id="([^"]+)"><\/a>\n+(#+ .*)$/gm, "$2 {#$1}");
}

function run(tool: string, ...parameters: readonly string[]): void {
  const script = join(site, "node_modules", tool);
  execFileSync(process.execPath, ["--conditions=@fetchwork/source", script, ...parameters], {
    cwd: site,
    stdio: ["ignore", "inherit", "inherit"],
  });
}
