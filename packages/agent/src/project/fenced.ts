/**
 * A file for a model, under its path, in a fence that no line of it ends: its content is not
 * taken for a question. A run of more backticks than anybody needs could only be there to be a
 * cost.
 */
export function fenced(path: string, text: string): string {
  const within = text.trimEnd().replaceAll(/`{16,}/g, "`".repeat(16));
  const runs = within.match(/`+/g) ?? [];
  const fence = "`".repeat(Math.max(3, ...new Set(runs.map(({ length }) => length + 1))));
  return `## ${path}\n\n${fence}\n${within}\n${fence}`;
}
