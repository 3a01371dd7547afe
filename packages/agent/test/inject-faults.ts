type Files = ReadonlyMap<string, string>;

/** A project with one fault in it. */
export interface FaultyProject {
  readonly kind: string;
  /** What was done, for a reader. */
  readonly what: string;
  readonly files: Files;
}

const scripts = /\.(?:[cm]?[jt]s|[jt]sx)$/;

/**
 * Every fault of five kinds that can be put into a project by exchanging text: nothing here knows
 * how the check works, and none is left out because it is hard.
 */
export function injectFaults(files: Files): readonly FaultyProject[] {
  return [
    ...renamedExports(files),
    ...missingFiles(files),
    ...wrongImports(files),
    ...missingDependencies(files),
    ...wrongElements(files),
  ];
}

function change(files: Files, path: string, edit: (text: string) => string): Files {
  return new Map([...files].map(([name, text]) => [name, name === path ? edit(text) : text]));
}

/** Whether another script names something. */
function isUsedElsewhere(files: Files, path: string, name: string): boolean {
  const word = new RegExp(`\\b${name.replaceAll("$", "\\$")}\\b`);
  return [...files].some(
    ([other, text]) => other !== path && scripts.test(other) && word.test(text),
  );
}

function renamedExports(files: Files): readonly FaultyProject[] {
  return [...files].flatMap(([path, text]) => {
    if (!scripts.test(path)) return [];
    const declared = Array.from(
      text.matchAll(/^export (?:async )?(?:function|class|const|enum|interface|type) (\w+)/gm),
      ([, name = ""]) => name,
    );
    const assigned = Array.from(
      text.matchAll(/^(?:module\.)?exports\.(\w+) =/gm),
      ([, name = ""]) => name,
    );
    const listed = Array.from(
      text.matchAll(/^module\.exports = \{ ([\w, ]+) \}/gm),
      ([, names = ""]) => names.split(", "),
    ).flat();
    const whole = [...new Set(declared)].map((name) => ({
      name,
      files: change(files, path, (old) =>
        old.replace(new RegExp(`\\b${name}\\b`, "g"), `${name}2`),
      ),
    }));
    const atExport = assigned.map((name) => ({
      name,
      files: change(files, path, (old) => old.replace(`exports.${name} =`, `exports.${name}2 =`)),
    }));
    const inList = listed.map((name) => ({
      name,
      files: change(files, path, (old) =>
        old.replace(/^module\.exports = \{.*\}/m, (list) =>
          list.replace(name, `${name}2: ${name}`),
        ),
      ),
    }));
    return [...whole, ...atExport, ...inList]
      .filter(({ name }) => isUsedElsewhere(files, path, name))
      .map((fault) => ({
        kind: "renamed export",
        what: `${path}: ${fault.name}`,
        files: fault.files,
      }));
  });
}

function missingFiles(files: Files): readonly FaultyProject[] {
  return [...files.keys()].flatMap((path) => {
    const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.\w+$/, "");
    const isNamed = [...files].some(
      ([other, text]) =>
        other !== path && /\.(?:html|json|css|webmanifest)$/.test(other) && text.includes(path),
    );
    const isImported = [...files].some(
      ([other, text]) =>
        other !== path &&
        scripts.test(other) &&
        new RegExp(`["'/]${name}(?:\\.\\w+)?["']`).test(text),
    );
    if (path === "package.json" || !(isNamed || isImported)) return [];
    const rest = new Map([...files].filter(([other]) => other !== path));
    return [{ kind: "missing file", what: path, files: rest }];
  });
}

function wrongImports(files: Files): readonly FaultyProject[] {
  return [...files].flatMap(([path, text]) => {
    if (!scripts.test(path)) return [];
    const specifiers = text.matchAll(/(?:from |require\(|import\(|^import )"(\.\.?\/[^"]*\w)"/gm);
    const paths = Array.from(specifiers, ([, specifier = ""]) => ({
      kind: "wrong import",
      what: `${path}: ${specifier}`,
      files: change(files, path, (old) =>
        old.replaceAll(`"${specifier}"`, `"${specifier.replace(/(\.\w+)?$/, "-old$1")}"`),
      ),
    }));
    const lists = text.matchAll(
      /^(?:import|const) (?:\w+, )?\{ (\w+)[^}]*\}(?: from | = require\()"\.[^"]*"/gm,
    );
    const names = Array.from(lists, ([statement, name = ""]) => ({
      kind: "wrong import",
      what: `${path}: { ${name} }`,
      files: change(files, path, (old) => {
        const as = statement.startsWith("import") ? `${name}Of as ${name}` : `${name}Of: ${name}`;
        return old.replace(statement, statement.replace(name, as));
      }),
    }));
    return [...paths, ...names];
  });
}

function missingDependencies(files: Files): readonly FaultyProject[] {
  const text = files.get("package.json");
  if (text === undefined) return [];
  const names = Array.from(text.matchAll(/"(@?[\w./-]+)": "\^/g), ([, name = ""]) => name);
  const imported = names.filter((name) =>
    [...files].some(
      ([path, source]) => scripts.test(path) && new RegExp(`["']${name}["'/]`).test(source),
    ),
  );
  return imported.map((name) => ({
    kind: "missing dependency",
    what: name,
    files: change(files, "package.json", (old) =>
      old.replace(new RegExp(`"${name}": "[^"]*"(?:, )?`), "").replace(/, \}/, " }"),
    ),
  }));
}

function wrongElements(files: Files): readonly FaultyProject[] {
  const inScripts = [...files].flatMap(([path, text]) => {
    if (!scripts.test(path)) return [];
    const uses = text.matchAll(/(getElementById\("|querySelector\("[\w ]*#)([\w-]+)"/g);
    return Array.from(uses, ([use, start = "", id = ""]) => ({
      kind: "wrong element",
      what: `${path}: #${id}`,
      files: change(files, path, (old) => old.replace(use, `${start}${id}-box"`)),
    }));
  });
  const inPages = [...files].flatMap(([path, text]) => {
    if (!path.endsWith(".html")) return [];
    const ids = Array.from(text.matchAll(/\bid="([\w-]+)"/g), ([, id = ""]) => id);
    return ids
      .filter((id) => {
        const use = new RegExp(`(?:getElementById\\("|querySelector\\("[\\w ]*#)${id}"`);
        return [...files].some(
          ([other, source]) => (scripts.test(other) || other === path) && use.test(source),
        );
      })
      .map((id) => ({
        kind: "wrong element",
        what: `${path}: id ${id}`,
        files: change(files, path, (old) => old.replace(`id="${id}"`, `id="the-${id}"`)),
      }));
  });
  return [...inScripts, ...inPages];
}
