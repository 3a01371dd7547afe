import { readdir } from "node:fs/promises";
import { isAllowed, type FilePathRules } from "./file-path.ts";

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Writes a page of links to what is in a folder, in order, without what is not served and without symbolic links. */
export async function listFolder(folder: string, rules: FilePathRules): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true });
  const links = entries
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && isAllowed(entry.name, rules))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
    .toSorted()
    .map((name) => {
      // "./" keeps a colon in a name from being taken for a scheme.
      const target = `./${encodeURIComponent(name).replaceAll("%2F", "/")}`;
      const shown = name.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
      return `<a href="${target.replaceAll("'", "%27")}">${shown}</a>\n`;
    });
  return `<!doctype html>\n<meta charset="utf-8">\n<pre>\n${links.join("")}</pre>\n`;
}
