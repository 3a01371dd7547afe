import type { FaultyProject } from "./inject-faults.ts";

type Files = ReadonlyMap<string, string>;

const scripts = /\.(?:[cm]?[jt]s|[jt]sx)$/;

/**
 * Faults of six more kinds, put into a project by exchanging text, again without a look at how the
 * check works: an import that was forgotten, a path in another case, a default for a named import,
 * a script or style of a page under another name, JSON with a comma too many, and a source that was
 * cut.
 */
export function injectMoreFaults(files: Files): readonly FaultyProject[] {
  return [
    ...forgottenImports(files),
    ...wrongCase(files),
    ...wrongDefaults(files),
    ...wrongReferences(files),
    ...brokenJson(files),
    ...cutSources(files),
  ];
}

function change(files: Files, path: string, edit: (text: string) => string): Files {
  return new Map([...files].map(([name, text]) => [name, name === path ? edit(text) : text]));
}

function eachScript(
  files: Files,
  find: (text: string, path: string) => readonly Omit<FaultyProject, "kind">[],
  kind: string,
): readonly FaultyProject[] {
  return [...files].flatMap(([path, text]) =>
    scripts.test(path)
      ? find(text, path).map((fault) => ({ ...fault, kind, what: `${path}: ${fault.what}` }))
      : [],
  );
}

/**
 * Imports of the project's own files, on a separate line, that are called: what is only a type
 * is not missed.
 */
function forgottenImports(files: Files): readonly FaultyProject[] {
  return eachScript(
    files,
    (text, path) => {
      const lines = text.matchAll(
        /^(?:import|const) (?:(\w+)|\{ (\w+)[^}]*\})(?: from | = require\()"(?:\.|@\/|~|#)[^"]*"\)?;?\n/gm,
      );
      return Array.from(lines, ([line, whole, first]) => ({
        what: whole ?? first ?? "",
        files: change(files, path, (old) => old.replace(line, "")),
      })).filter(({ what }) => new RegExp(`[^.\\w]${what}\\(`).test(text));
    },
    "forgotten import",
  );
}

function wrongCase(files: Files): readonly FaultyProject[] {
  return eachScript(
    files,
    (text, path) =>
      Array.from(
        text.matchAll(/(?:from |require\()"(\.\.?\/(?:[^"]*\/)?)([a-z])([\w-]*(?:\.\w+)*)"/g),
        ([use, folder = "", first = "", rest = ""]) => ({
          what: `${folder}${first}${rest}`,
          files: change(files, path, (old) =>
            old.replace(use, use.replace(`/${first}${rest}"`, `/${first.toUpperCase()}${rest}"`)),
          ),
        }),
      ),
    "wrong case",
  );
}

/** `import { a }` where there is a default alone, and `import a` where there are names alone. */
function wrongDefaults(files: Files): readonly FaultyProject[] {
  return eachScript(
    files,
    (text, path) => [
      ...Array.from(
        text.matchAll(/^import (\w+) from "(?:\.|@\/|~|#)[^"]*\w(?<!\.css|\.vue|\.json)"/gm),
        ([statement, name = ""]) => ({
          what: `{ ${name} }`,
          files: change(files, path, (old) =>
            old.replace(statement, statement.replace(name, `{ ${name} }`)),
          ),
        }),
      ),
      ...Array.from(
        text.matchAll(/^import \{ (\w+) \} from "(?:\.|@\/|~|#)[^"]*"/gm),
        ([statement, name = ""]) => ({
          what: name,
          files: change(files, path, (old) =>
            old.replace(statement, statement.replace(`{ ${name} }`, name)),
          ),
        }),
      ),
    ],
    "wrong default",
  );
}

function wrongReferences(files: Files): readonly FaultyProject[] {
  return [...files].flatMap(([path, text]) => {
    if (!path.endsWith(".html")) return [];
    const uses = text.matchAll(
      /<(?:script|link|img)[^>]* (?:src|href)="(?!https?:)([^"#{]*?)(\.\w+)"/g,
    );
    return Array.from(uses, ([use, start = "", end = ""]) => ({
      kind: "wrong reference",
      what: `${path}: ${start}${end}`,
      files: change(files, path, (old) =>
        old.replace(use, use.replace(`${start}${end}"`, `${start}-main${end}"`)),
      ),
    }));
  });
}

function brokenJson(files: Files): readonly FaultyProject[] {
  return [...files].flatMap(([path, text]) => {
    if (!/\.json$|\.webmanifest$/.test(path) || /[jt]sconfig/.test(path)) return [];
    const broken = text.replace(/\s*([}\]])\s*$/, ",\n$1\n");
    return [{ kind: "broken JSON", what: path, files: change(files, path, () => broken) }];
  });
}

function cutSources(files: Files): readonly FaultyProject[] {
  return eachScript(
    files,
    (text, path) => {
      const end = text.lastIndexOf("\n}");
      return end === -1
        ? []
        : [{ what: "its end", files: change(files, path, (old) => old.slice(0, end)) }];
    },
    "cut source",
  );
}
