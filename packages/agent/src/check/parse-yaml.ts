import type { Document } from "yaml";
import type { SyntaxFault } from "./project-files.ts";

/** Characters of a file that is parsed: longer ones are lock files and data. */
const longest = 200_000;

/** Whether a file is plain YAML: no template that becomes YAML (Helm, Jinja), and not too long. */
export function isYaml(path: string, source: string): boolean {
  if (!/\.ya?ml$/i.test(path) || source.length > longest) return false;
  // A quote without its end is taken to the end of the line, too: else each quote in it is tried.
  const quoted = /"(?:[^"\\\n]|\\.)*("?)|'[^'\n]*'/g;
  const unquoted = source.replace(quoted, (text, end) => (end === "" ? text : ""));
  // Expressions of GitHub's workflows, `${{ }}`, are texts.
  return !/(?<!\$)\{\{|\{%|<%/.test(unquoted);
}

/** Loads what finds the first fault, or duplicate key, of each document of YAML 1.2 or 1.1. */
export async function loadYamlParser(): Promise<(source: string) => readonly SyntaxFault[]> {
  const { isScalar, LineCounter, parseAllDocuments, visit } = await import("yaml");
  // The library compares each key with all others of its map.
  const options = { uniqueKeys: false, prettyErrors: false };
  const repeatedKey = (document: Document.Parsed): number | undefined => {
    let place: number | undefined;
    visit(document, {
      Map(_, { items }) {
        const seen = new Set<unknown>();
        for (const { key } of items) {
          if (!isScalar(key) || key.value === "<<") continue;
          if (seen.has(key.value)) {
            place = key.range?.[0] ?? 0;
            return visit.BREAK;
          }
          seen.add(key.value);
        }
        return undefined;
      },
    });
    return place;
  };
  return (source) => {
    const lineCounter = new LineCounter();
    const documents = parseAllDocuments(source, { ...options, lineCounter });
    const fault = (place: number, what: string): SyntaxFault => ({
      line: lineCounter.linePos(place).line,
      message: `it is not YAML: ${what.replace(/\s+/g, " ").slice(0, 200)}`,
    });
    return [...documents].flatMap((document): readonly SyntaxFault[] => {
      const [error] = document.errors;
      if (error !== undefined) return [fault(error.pos[0], error.message)];
      const place = repeatedKey(document);
      return place === undefined ? [] : [fault(place, "a key is repeated in one map")];
    });
  };
}
