/**
 * A table in Markdown, laid out as Prettier does it; the first column is text, the others stand to
 * the right.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string {
  const cells = [headings, ...rows].map((row) =>
    headings.map((_, column) => (row[column] ?? "").replaceAll("|", "\\|")),
  );
  const widths = headings.map((_, column) =>
    Math.max(3, ...cells.map((row) => (row[column] ?? "").length)),
  );
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => padded(cell, widths[column] ?? 0, column < textColumns)).join(" | ")} |`;
  const rule = widths.map((width, column) =>
    column < textColumns ? "-".repeat(width) : `${"-".repeat(width - 1)}:`,
  );
  const [head = [], ...body] = cells;
  return [line(head), line(rule), ...body.map(line)].join("\n");
}

function padded(text: string, width: number, isText: boolean): string {
  const space = " ".repeat(Math.max(0, width - text.length));
  return isText ? text + space : space + text;
}
