/** What a template's markers ask about: `users`, `oidc` and so on. */
export type TemplateConditions = Readonly<Record<string, boolean>>;

// A marker is a comment of the file's language, so that a template is a file that tools read like any other.
const open = /^\s*(?:\/\/|#|<!--) #if (.+?)(?: -->)?$/;
const close = /^\s*(?:\/\/|#|<!--) #endif(?: -->)?$/;
const single = /^(.*\S)\s+(?:\/\/|#|<!--) #if (.+?)(?: -->)?$/;
const other = /^(\s*)(?:\/\/|#)\+ ?(.*)$/;

/**
 * Fills a template. `// #if a && !b` and `// #endif` enclose lines that are there on that condition, `// #if a` at the
 * end of a line is about this line, and a line that begins with `//+` is one without it. Comments may also be those of
 * shells and of Markdown. The result has no markers. Regions may contain regions.
 *
 * @param replacements - Texts and what replaces each of them.
 * @throws Error for an unmatched marker and for an unknown condition
 */
export function fillTemplate(
  text: string,
  conditions: TemplateConditions,
  replacements: ReadonlyMap<string, string>,
): string {
  const kept: string[] = [];
  const regions: boolean[] = [];
  for (const line of text.split("\n")) {
    const [, opened] = open.exec(line) ?? [];
    if (opened !== undefined) {
      regions.push(holds(opened, conditions));
    } else if (close.test(line)) {
      if (regions.pop() === undefined) throw new Error("a template has an unmatched #endif");
    } else if (regions.every(Boolean)) {
      const filled = fillLine(line, conditions);
      if (filled !== undefined) kept.push(filled);
    }
  }
  if (regions.length > 0) throw new Error("a template has an #if without an #endif");
  let filled = kept.join("\n");
  for (const [from, to] of replacements) filled = filled.replaceAll(from, () => to);
  return filled;
}

function fillLine(line: string, conditions: TemplateConditions): string | undefined {
  const [, before, condition] = single.exec(line) ?? [];
  if (before !== undefined && condition !== undefined) {
    return holds(condition, conditions) ? before : undefined;
  }
  const [, indent, rest] = other.exec(line) ?? [];
  return rest === undefined ? line : `${indent}${rest}`.trimEnd();
}

function holds(condition: string, conditions: TemplateConditions): boolean {
  return condition.split("&&").every((part) => {
    const name = part.trim().replace(/^!/, "");
    const value = Object.hasOwn(conditions, name) ? conditions[name] : undefined;
    if (value === undefined)
      throw new Error(`a template tests an unknown condition ${JSON.stringify(name)}`);
    return part.trim().startsWith("!") ? !value : value;
  });
}
