import { isObject } from "@fetchwork/kit";
import { validateFilePath, validateFilePaths, type RefusedPath } from "../files/file-path.ts";

/** A file that is planned, and what it owes the others. */
export interface FileSpec {
  /** Relative path, normalised. */
  readonly path: string;
  /** One sentence. */
  readonly purpose: string;
  /** Paths of the files that it uses. */
  readonly dependsOn: readonly string[];
  /** Names that it exports. */
  readonly exports: readonly string[];
  /** Ids of elements that it makes. */
  readonly domIds?: readonly string[] | undefined;
}

/** Plan of a program to write. */
export interface ProjectPlan {
  /** The shared dependencies, in Markdown; kept as `shared_deps.md`. */
  readonly sharedDeps: string;
  readonly files: readonly FileSpec[];
}

/** The files of a contract that can be written, and what of it cannot. */
export interface ReadContract {
  readonly files: readonly FileSpec[];
  readonly refused: readonly RefusedPath[];
}

/** Reads a contract as a model wrote it, without wrong parts; undefined: it is not a contract. */
export function readContract(value: unknown): ReadContract | undefined {
  const list = isObject(value) ? value["files"] : value;
  if (!Array.isArray(list)) return undefined;
  const entries = list.slice(0, 20_000).flatMap((entry: unknown) => {
    if (typeof entry === "string") return [{ path: entry, entry: {} }];
    if (!isObject(entry) || typeof entry["path"] !== "string") return [];
    return [{ path: entry["path"], entry }];
  });
  if (entries.length !== Math.min(list.length, 20_000)) return undefined;
  const named = entries.map(({ path }) => path).filter((path) => !isFolder(path));
  if (named.length === 0) return undefined;
  const { paths, refused } = validateFilePaths(named);
  const wanted = new Set(paths);
  const files = new Map<string, FileSpec>();
  for (const { path: one, entry } of entries) {
    const result = validateFilePath(one);
    if (!result.ok || !wanted.has(result.path) || files.has(result.path)) continue;
    files.set(result.path, {
      path: result.path,
      purpose: typeof entry["purpose"] === "string" ? entry["purpose"].slice(0, 2_000) : "",
      dependsOn: textList(entry["dependsOn"]).flatMap((path) => {
        const needed = validateFilePath(path);
        return needed.ok && needed.path !== result.path ? [needed.path] : [];
      }),
      exports: textList(entry["exports"]),
      domIds: textList(entry["domIds"]),
    });
  }
  return { files: [...files.values()], refused };
}

/** A model that lists a folder means the files in it, which it lists too. */
function isFolder(path: string): boolean {
  return /\/["'`]?\s*$/.test(path);
}

function textList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const texts = value.filter((entry): entry is string => typeof entry === "string");
  return [...new Set(texts.map((text) => text.slice(0, 300)))].slice(0, 1_000);
}
