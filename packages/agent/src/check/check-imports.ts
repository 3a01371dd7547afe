import { isBuiltin } from "node:module";
import type { Diagnostic } from "./diagnostic.ts";
import type { ExportLookup } from "./export-lookup.ts";
import type { ProjectFiles, ProjectScript } from "./project-files.ts";
import type { ProjectManifests } from "./project-manifests.ts";
import { isScript } from "./parse-script.ts";
import type { ImportFact } from "./module-facts.ts";

/** Imports that lead nowhere, unknown names and packages, and modules that do not mix. */
export function checkImports(
  project: ProjectFiles,
  manifests: ProjectManifests,
  lookup: ExportLookup,
): readonly Diagnostic[] {
  const hasImportMap = [...project.pages.values()].some((page) => page.hasImportMap);
  return project.scripts.flatMap((script) => [
    ...script.facts.imports.flatMap((fact) => {
      const target = lookup.resolve(script, fact.specifier, fact.how);
      if (target.kind === "missing") {
        return mayBeAbsent(fact, project) ? [] : [missingFile(script, fact, target.hint)];
      }
      if (target.kind === "package") {
        if (hasImportMap || isKnownPackage(script, fact, target.name, manifests)) return [];
        return [missingDependency(script, fact, target.name, manifests)];
      }
      if (target.kind !== "file") return [];
      const value = project.json.get(target.path);
      return value === undefined
        ? checkNames(script, fact, project.modules.get(target.path), lookup)
        : checkKeys(script, fact, target.path, value);
    }),
    ...checkKind(script, manifests),
  ]);
}

/**
 * Whether nothing needs to be where a URL leads: `new URL("../data/", import.meta.url)` may name a
 * folder, or a file that the program makes, and `../bin/run.mjs` a script of the project, from
 * where the bundle will be.
 */
function mayBeAbsent({ how, specifier }: ImportFact, { paths }: ProjectFiles): boolean {
  if (how !== "url") return false;
  if (!isScript(specifier)) return true;
  const below = specifier.replace(/^(?:\.{1,2}\/)+/, "");
  return below.includes("/") && paths.has(below);
}

function at(script: ProjectScript, line: number): Pick<Diagnostic, "path" | "line" | "severity"> {
  return { path: script.path, line: line + script.offset, severity: "error" };
}

function missingFile(
  script: ProjectScript,
  { specifier, line }: ImportFact,
  hint: string | undefined,
): Diagnostic {
  const meant = hint === undefined ? "" : `; ${hint} does, and the name has to be written in full`;
  const message = `it imports ${quote(specifier)}, which does not exist${meant}`;
  return { ...at(script, line), code: "missing-file", message };
}

function isKnownPackage(
  { path }: ProjectScript,
  fact: ImportFact,
  name: string,
  manifests: ProjectManifests,
): boolean {
  // The module of Bun comes with it, too.
  if (fact.how === "url" || isBuiltin(fact.specifier) || name === "bun") return true;
  if (manifests.isOfDeno(path, fact.specifier)) return true;
  const known = manifests
    .naming(path)
    .some(
      ({ name: own, dependencies }) =>
        own === name ||
        dependencies.has(name) ||
        (fact.typeOnly && dependencies.has(typesOf(name))) ||
        (name === "vscode" && dependencies.has("@types/vscode")),
    );
  return known || manifests.all.some(({ name: sibling }) => sibling === name);
}

function typesOf(name: string): string {
  return `@types/${name.replace(/^@/, "").replace("/", "__")}`;
}

function missingDependency(
  script: ProjectScript,
  { line }: ImportFact,
  name: string,
  manifests: ProjectManifests,
): Diagnostic {
  const [nearest] = manifests.above(script.path);
  const where =
    nearest === undefined ? "there is no package.json" : `${nearest.path} does not name it`;
  const message = `it imports the package ${quote(name)}, but ${where}`;
  const diagnostic = { ...at(script, line), code: "missing-dependency", message } as const;
  return nearest === undefined ? diagnostic : { ...diagnostic, related: nearest.path };
}

/** Names that are taken of a JSON file. */
function checkKeys(
  script: ProjectScript,
  { names, how }: ImportFact,
  path: string,
  value: Readonly<Record<string, unknown>>,
): readonly Diagnostic[] {
  if (how !== "require") return [];
  const absent = names.filter(({ name }) => !(name in value));
  return absent.map(({ name, line }) => ({
    ...at(script, line),
    code: "missing-export",
    message: `${path} has no ${quote(name)}`,
    related: path,
  }));
}

function checkNames(
  script: ProjectScript,
  fact: ImportFact,
  target: ProjectScript | undefined,
  lookup: ExportLookup,
): readonly Diagnostic[] {
  if (target === undefined) return [];
  const { path } = target;
  const reported = new Set<string>();
  return fact.names.flatMap(({ name, line }) => {
    if (reported.has(name) || lookup.exports(target, name) !== false) return [];
    // `require` of a module without exports returns an empty object, and a whole module has these
    // names anyway.
    if (fact.how === "require" && (name === "default" || name === "__esModule")) return [];
    reported.add(name);
    const there = [...target.facts.exports].slice(0, 12).join(", ") || "nothing";
    const what = name === "default" ? "has no default export" : `does not export ${quote(name)}`;
    return [
      {
        ...at(script, line),
        code: "missing-export" as const,
        message: `${path} ${what}; it exports ${there}`,
        related: path,
      },
    ];
  });
}

/** The kind of a `.js` file is set by package.json; Node also detects ES modules in it. */
function checkKind(script: ProjectScript, manifests: ProjectManifests): readonly Diagnostic[] {
  const { path, facts, inline } = script;
  const [nearest] = manifests.above(path);
  const isModule =
    /\.m[jt]s$/.test(path) ||
    (inline === undefined && path.endsWith(".js") && nearest?.isModule === true) ||
    inline === "module";
  const required = facts.imports.find(({ how }) => how === "require");
  if (path.endsWith(".cjs") && facts.usesEsm) {
    const message = "it uses import or export, but .cjs is CommonJS";
    return [{ ...at(script, 1), code: "module-kind", message }];
  }
  if (!isModule || manifests.hasBundler(path)) return [];
  if (required !== undefined && !facts.declared.has("require")) {
    const message = "it uses require, which modules do not have";
    return [{ ...at(script, required.line), code: "module-kind", message }];
  }
  if (
    facts.usesCjs !== undefined &&
    !facts.declared.has("module") &&
    !facts.declared.has("exports")
  ) {
    const message = `it uses ${facts.usesCjs.name}, which modules do not have`;
    return [{ ...at(script, facts.usesCjs.line), code: "module-kind", message }];
  }
  return [];
}

export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}
