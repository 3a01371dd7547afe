import type { ProjectFiles } from "./project-files.ts";

/** Where a specifier leads. */
export type Resolved =
  | { readonly kind: "file"; readonly path: string }
  /** A relative one that leads nowhere; `hint` is a file that may be meant. */
  | { readonly kind: "missing"; readonly hint: string | undefined }
  | { readonly kind: "package"; readonly name: string }
  /** A built-in module, a URL, an alias: nothing that can be checked. */
  | { readonly kind: "other" };

/** Joins a path and a relative one; undefined when it leads out of the project. */
export function joinPath(folder: string, relative: string): string | undefined {
  const segments = folder === "" ? [] : folder.split("/");
  for (const segment of relative.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.join("/");
}

/** The folder of a path; the project's own is the empty text. */
export function folderOf(path: string): string {
  const at = path.lastIndexOf("/");
  return at === -1 ? "" : path.slice(0, at);
}

/** A path as it is named from a folder; undefined when it is not in it. */
export function pathFrom(folder: string, path: string): string | undefined {
  if (folder === "") return path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}

const extensions = [
  ".ts",
  ".tsx",
  ".js",
  ".jsx",
  ".mjs",
  ".cjs",
  ".mts",
  ".cts",
  ".json",
  ".d.ts",
  ".vue",
  ".svelte",
  ".css",
];

/** Folders that only a build fills. */
const isBuilt = /(?:^|\/)(?:dist|build|node_modules)\//;

/**
 * Resolves what a file imports.
 *
 * @param lenient whether endings may be left out: by a bundler, `require`, or TypeScript for one
 */
export function resolveImport(
  from: string,
  specifier: string,
  { paths, json, isIgnored }: Pick<ProjectFiles, "isIgnored" | "paths" | "json">,
  lenient: boolean,
): Resolved {
  const plain = specifier.replace(/[?#].*$/, "");
  if (/^(?:[a-z][a-z\d+.-]*:|\/\/)/i.test(plain) || plain === "") return { kind: "other" };
  if (plain.startsWith("/")) {
    const found = findServed(plain, paths);
    return found === undefined ? { kind: "other" } : { kind: "file", path: found };
  }
  if (!/^\.\.?(?:\/|$)/.test(plain)) {
    // `@/x`, `~/x` and `#x` are aliases of a bundler's or package's configuration.
    if (/^(?:@\/|~|#|\$)/.test(plain)) return { kind: "other" };
    const name = plain.split("/", plain.startsWith("@") ? 2 : 1).join("/");
    return { kind: "package", name };
  }
  const target = joinPath(folderOf(from), plain);
  if (target === undefined || isBuilt.test(target)) return { kind: "other" };
  const isFolder = /(?:^|\/)\.{0,2}$/.test(plain);
  const written = target.replace(/\.([cm]?)js(x?)$/, ".$1ts$2");
  const exact = exactFile(from, { target, written, isFolder }, paths);
  if (exact !== undefined) return { kind: "file", path: exact };
  const entry = mainOf(target, json);
  if (lenient && isBuilt.test(entry ?? "")) return { kind: "other" };
  const guess = guessesFor(target, { isFolder, entry }).find((path) => paths.has(path));
  if (guess !== undefined && lenient) return { kind: "file", path: guess };
  if (target !== "" && isIgnored(target) && isIgnored(written)) return { kind: "other" };
  return { kind: "missing", hint: guess ?? sameButCase(target, paths) };
}

/** The file of that very name, or the one that is compiled to it. */
function exactFile(
  from: string,
  {
    target,
    written,
    isFolder,
  }: { readonly target: string; readonly written: string; readonly isFolder: boolean },
  paths: ReadonlySet<string>,
): string | undefined {
  // TypeScript reads the types next to a script.
  const types = target.replace(/\.([cm]?)js$/, ".d.$1ts");
  if (/\.[cm]?tsx?$/.test(from) && types !== target && paths.has(types)) return types;
  if (!isFolder && paths.has(target)) return target;
  if (written !== target && paths.has(written)) return written;
  const withJsx = target.replace(/\.js$/, ".tsx");
  return target.endsWith(".js") && paths.has(withJsx) ? withJsx : undefined;
}

/** Main file that the package.json of a folder names. */
function mainOf(folder: string, json: ProjectFiles["json"]): string | undefined {
  const main = json.get(folder === "" ? "package.json" : `${folder}/package.json`)?.["main"];
  return typeof main === "string" ? joinPath(folder, main) : undefined;
}

/** The files that may be meant, in the order in which Node and bundlers look for them. */
function guessesFor(
  target: string,
  { isFolder, entry }: { readonly isFolder: boolean; readonly entry: string | undefined },
): readonly string[] {
  const entries = entry === undefined ? [] : ["", ...extensions].map((end) => entry + end);
  const below = target === "" ? "" : `${target}/`;
  return [
    ...(isFolder ? [] : extensions.map((end) => target + end)),
    ...entries,
    ...(entry === undefined ? [] : extensions.map((end) => `${entry}/index${end}`)),
    ...extensions.map((end) => `${below}index${end}`),
  ];
}

function sameButCase(target: string, paths: ReadonlySet<string>): string | undefined {
  const folded = target.toLowerCase();
  return [...paths].find((path) => path.toLowerCase() === folded);
}

/** The file that a server probably sends for `/path`: from the root or a public folder. */
export function findServed(url: string, paths: ReadonlySet<string>): string | undefined {
  const path = url.replace(/^\/+/, "");
  if (path === "") return undefined;
  if (paths.has(path)) return path;
  return [...paths].find((candidate) => candidate.endsWith(`/${path}`));
}
