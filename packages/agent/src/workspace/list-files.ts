import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import ignore, { type Ignore } from "ignore";
import { validateFilePath } from "../files/file-path.ts";
import { git, workTreeOf } from "./git.ts";

/** A file of a program. */
export interface ListedFile {
  /** Relative to the program's folder, with `/`. */
  readonly path: string;
  readonly bytes: number;
}

/** The files of a program. */
export interface FileList {
  /** Sorted by path. */
  readonly files: readonly ListedFile[];
  /** Whether there are more than were listed within the limits. */
  readonly isCut: boolean;
  /** The first bytes of a listed file as text; undefined where it is gone or no text. */
  readonly readHead: (path: string, maxBytes: number) => string | undefined;
}

/** Limits of a list. */
export interface ListOptions {
  /** Default: `100_000`. */
  readonly maxFiles?: number | undefined;
}

/** Milliseconds for a list. */
const maxTime = 10_000;

/** Folders that no program of ours is in, unless git tracks them. */
const skipped = [
  ".fetchwork",
  ".git",
  ".hg",
  ".svn",
  "node_modules",
  "dist",
  "build",
  "coverage",
  ".cache",
  ".venv",
  "__pycache__",
];

/**
 * Lists the files of a program: those that git tracks or would add, and outside of git those that
 * no `.gitignore` names. Links, other repositories and names that cannot be written on every system
 * are left out, and so is `.fetchwork`.
 *
 * @param root real path of the folder
 */
export async function listFiles(
  root: string,
  { maxFiles = 100_000 }: ListOptions = {},
): Promise<FileList> {
  const end = Date.now() + maxTime;
  const listed = await listWithGit(root, maxTime);
  const found =
    listed === undefined
      ? await walk(root, { maxFiles, end })
      : onDisk(root, listed, { maxFiles, end });
  const files = found.files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const known = new Set(files.map(({ path }) => path));
  return {
    files,
    isCut: found.isCut,
    readHead: (path, maxBytes) =>
      known.has(path) ? readHead(join(root, path), maxBytes) : undefined,
  };
}

/** Paths as git lists them, in their bytes; undefined where the folder is in no work tree. */
export async function listWithGit(
  root: string,
  timeout: number,
): Promise<readonly Buffer[] | undefined> {
  if ((await workTreeOf(root)) === undefined) return undefined;
  const excludes = skipped.map((name) => `--exclude=${name}/`);
  const args = ["ls-files", "-c", "-o", "-z", "--exclude-standard", ...excludes];
  const { ok, stdout } = await git(root, args, { timeout });
  if (!ok) return undefined;
  const paths: Buffer[] = [];
  for (let start = 0; start < stdout.length;) {
    const next = stdout.indexOf(0, start);
    paths.push(stdout.subarray(start, next));
    start = next + 1;
  }
  return paths;
}

interface Found {
  readonly files: readonly ListedFile[];
  readonly isCut: boolean;
}

interface WalkLimits {
  readonly maxFiles: number;
  readonly end: number;
}

/** Files of a list that are on the disk: an index may name anything. */
function onDisk(root: string, listed: readonly Buffer[], { maxFiles, end }: WalkLimits): Found {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const folders = new Map<string, boolean>([["", true]]);
  const isFolder = (path: string): boolean => {
    const known = folders.get(path);
    if (known !== undefined) return known;
    const is =
      isFolder(path.slice(0, Math.max(0, path.lastIndexOf("/")))) &&
      lstatSync(join(root, path), { throwIfNoEntry: false })?.isDirectory() === true;
    folders.set(path, is);
    return is;
  };
  const files = new Map<string, ListedFile>();
  for (const bytes of listed) {
    if (files.size >= maxFiles || Date.now() > end)
      return { files: [...files.values()], isCut: true };
    const path = decodeOr(decoder, bytes);
    if (path === undefined || !isWritable(path) || files.has(path)) continue;
    if (!isFolder(path.slice(0, Math.max(0, path.lastIndexOf("/"))))) continue;
    const status = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (status?.isFile() === true) files.set(path, { path, bytes: status.size });
  }
  return { files: [...files.values()], isCut: false };
}

function decodeOr(decoder: TextDecoder, bytes: Buffer): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Names that are written otherwise than they are read are nobody's to change. */
function isWritable(path: string): boolean {
  const checked = validateFilePath(path);
  return checked.ok && checked.path === path;
}

/** The rules of a folder, for paths relative to it. */
interface Rules {
  readonly folder: string;
  readonly ignore: Ignore;
}

async function walk(root: string, { maxFiles, end }: WalkLimits): Promise<Found> {
  const files: ListedFile[] = [];
  const open: { readonly folder: string; readonly rules: readonly Rules[] }[] = [
    { folder: "", rules: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { folder } = next;
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    // Another repository.
    if (folder !== "" && entries.some(({ name }) => name === ".git")) continue;
    const own = entries.some((entry) => entry.name === ".gitignore" && entry.isFile())
      ? readRules(root, folder)
      : [];
    const rules = [...own, ...next.rules];
    for (const entry of entries) {
      if (files.length >= maxFiles || Date.now() > end) return { files, isCut: true };
      const path = `${folder}${entry.name}`;
      if (entry.isDirectory()) {
        const isSkipped = skipped.includes(entry.name) || isIgnored(`${path}/`, rules);
        if (!isSkipped && isWritable(path)) open.push({ folder: `${path}/`, rules });
      } else if (entry.isFile() && isWritable(path) && !isIgnored(path, rules)) {
        const status = await lstat(join(root, path)).catch(() => undefined);
        if (status?.isFile() === true) files.push({ path, bytes: status.size });
      }
    }
  }
  return { files, isCut: false };
}

/** The nearest rules that say something about a path decide. */
function isIgnored(path: string, rules: readonly Rules[]): boolean {
  for (const { folder, ignore: own } of rules) {
    const { ignored, unignored } = own.test(path.slice(folder.length));
    if (ignored || unignored) return ignored;
  }
  return false;
}

function readRules(root: string, folder: string): readonly Rules[] {
  const text = readHead(join(root, folder, ".gitignore"), 256 * 1024) ?? "";
  const lines = text.split(/\r?\n/).filter(isQuick).slice(0, 5_000);
  return [{ folder, ignore: ignore({ ignorecase: false, allowRelativePaths: false }).add(lines) }];
}

/** A pattern becomes a regular expression, which takes ages where many stars follow each other. */
function isQuick(line: string): boolean {
  return (
    line.length <= 1_000 && stars(line) <= 8 && line.split("/").every((part) => stars(part) <= 3)
  );
}

function readHead(place: string, maxBytes: number): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(file);
    if (!status.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(status.size, maxBytes));
    const head = bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
    if (head.includes(0)) return undefined;
    // A character may be cut at the end.
    return new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function stars(part: string): number {
  return part.match(/\*+/g)?.length ?? 0;
}
