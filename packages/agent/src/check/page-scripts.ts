import type { ExportLookup } from "./export-lookup.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { PageFacts } from "./read-page.ts";
import { findServed, folderOf, joinPath } from "./resolve-import.ts";

/** Scripts that a page loads, those that they import included. */
export function scriptsOf(
  path: string,
  page: PageFacts,
  project: ProjectFiles,
  lookup: ExportLookup,
): readonly ProjectScript[] {
  const open = project.scripts.filter((script) => script.path === path);
  for (const { url, from } of page.references) {
    if (from !== "script") continue;
    const plain = decodeUrl(url.replace(/[?#].*$/, ""));
    const local = joinPath(folderOf(path), plain);
    const target =
      local !== undefined && project.paths.has(local) ? local : findServed(plain, project.paths);
    const script = target === undefined ? undefined : project.modules.get(target);
    if (script !== undefined) open.push(script);
  }
  const found = new Set<ProjectScript>();
  for (let script = open.pop(); script !== undefined; script = open.pop()) {
    if (found.has(script)) continue;
    found.add(script);
    for (const { specifier, how } of script.facts.imports) {
      const target = lookup.resolve(script, specifier, how);
      const next = target.kind === "file" ? project.modules.get(target.path) : undefined;
      if (next !== undefined) open.push(next);
    }
  }
  return [...found];
}

/** Decoded text of a URL; the URL itself where its encoding is invalid. */
export function decodeUrl(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}
