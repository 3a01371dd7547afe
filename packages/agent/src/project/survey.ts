import { describeDeclarations } from "../check/describe-declarations.ts";
import type { FileList, ListedFile } from "../workspace/list-files.ts";
import { tokensOf } from "./files-to-show.ts";
import { holdsSecret, mayBeSecret } from "./secret-files.ts";

/** Options of a survey. */
export interface SurveyOptions {
  /** Change that is wanted: files that its words name come first. */
  readonly request: string;
  /** Maximum tokens of the survey, at three and a half bytes each. Default: `2_000`. */
  readonly maxTokens?: number | undefined;
}

/** Bytes of one file, and of all, that are looked at to rank them. */
const maxOfFile = 32 * 1024;
const maxOfAll = 32 * 1024 * 1024;

/** Files whose declarations are read. */
const described = 20;

const isSource = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|java|kt|rb|php|cs|c|cc|cpp|h|hpp|swift)$/i;
const isAside =
  /(?:^|\/)(?:tests?|__tests__|specs?|bench(?:marks?)?|examples?|docs?|fixtures?|vendor)\/|[._-](?:test|spec|bench)\.|\.min\.|\.lock$/i;
const declared =
  /\b(?:class|interface|type|enum|function|const|def|func|fn|struct|trait|impl|mod)\s+(?:\([^)\n]{0,80}\)\s*)?([A-Za-z_$][\w$]{1,80})/g;
const imported =
  /\b(?:from|import|require\(|export)\s*\(?\s*["']([^"'\n]{1,200})["']|^\s*(?:from\s+([\w.]{1,200})\s+import|import\s+([\w.]{1,200})|(?:pub\s+)?mod\s+(\w{1,80});|(?:pub\s+)?use\s+([\w:]{1,200}))/gm;

interface Looked extends ListedFile {
  readonly names: ReadonlySet<string>;
  readonly imports: ReadonlySet<string>;
  readonly lines: number | undefined;
  readonly isSecret: boolean;
}

/**
 * Describes a program to a model within a number of tokens: the files that matter most for a
 * request, with what they declare, then the tree, folders without room collapsed. Files rank by the
 * words of the request in their paths and declared names, and by their number of importers. Secrets
 * are named, never shown.
 */
export async function surveyOf(
  { files, isCut, readHead }: FileList,
  { request, maxTokens = 2_000 }: SurveyOptions,
): Promise<string> {
  const ranked = rank(lookAt(files, readHead), request);
  const lines = [`${files.length}${isCut ? " or more" : ""} files. Ranked for the request:`];
  let room = maxTokens - costOf(lines);
  const best = ranked.slice(0, described);
  for (const [index, file] of best.entries()) {
    const head = `${file.path} ${sizeOf(file)}`;
    const entry = [head, ...(index < 8 ? await declarationsOf(file, readHead) : [])];
    // A half is for the tree.
    while (entry.length > 1 && costOf(entry) > room - maxTokens / 2) entry.pop();
    if (costOf(entry) > room - maxTokens / 2) break;
    room -= costOf(entry);
    lines.push(...entry);
  }
  return [...lines, ...treeOf(ranked, room)].join("\n");
}

function lookAt(files: readonly ListedFile[], readHead: FileList["readHead"]): readonly Looked[] {
  let room = maxOfAll;
  return files.map((file) => {
    const isSecret = mayBeSecret(file.path);
    const wanted = !isSecret && isSource.test(file.path) && room > 0;
    const text = wanted ? (readHead(file.path, maxOfFile) ?? "") : "";
    room -= text.length;
    return {
      ...file,
      names: new Set(Array.from(text.matchAll(declared), ([, name = ""]) => name)),
      imports: new Set(
        Array.from(text.matchAll(imported), (found) => found.slice(1).find(Boolean) ?? ""),
      ),
      lines: wanted && file.bytes <= maxOfFile ? text.split("\n").length - 1 : undefined,
      isSecret: isSecret || holdsSecret(text),
    };
  });
}

function rank(files: readonly Looked[], request: string): readonly Looked[] {
  const importers = countImporters(files);
  const asked = new Set(request.match(/[A-Za-z_$][\w$]*/g));
  const wanted = wordsOf(request);
  const texts = files.map((file) => ({
    file,
    path: wordsOf(file.path),
    names: wordsOf([...file.names].join(" ")),
  }));
  const weight = new Map(
    [...wanted].map((word) => {
      const count = texts.filter(({ path, names }) => path.has(word) || names.has(word)).length;
      return [word, Math.log((files.length + 1) / (count + 1)) + 0.1];
    }),
  );
  const scores = new Map(
    texts.map(({ file, path, names }) => {
      let score = request.includes(file.path) ? 50 : 0;
      for (const [word, worth] of weight) {
        score += worth * ((path.has(word) ? 2 : 0) + (names.has(word) ? 1 : 0));
      }
      for (const name of file.names) {
        if (asked.has(name)) score += /[A-Z_$]/.test(name) || name.length > 3 ? 12 : 2;
      }
      score += Math.log2(1 + (importers.get(file.path) ?? 0));
      return [file.path, isAside.test(file.path) ? score / 4 : score];
    }),
  );
  return files.toSorted((a, b) => (scores.get(b.path) ?? 0) - (scores.get(a.path) ?? 0));
}

/** Words of paths and names in small letters: `readFileHead` has three. */
function wordsOf(text: string): ReadonlySet<string> {
  const parts = text.replace(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
  return new Set(parts.split(/[^\p{L}\d]+/u).filter((word) => word.length > 2 && !small.has(word)));
}

const small = new Set(
  "the and for with that this from into add new use make change fix class function option file all not when should src lib index".split(
    " ",
  ),
);

/** Imports match the end of a path without extension, which needs no resolver settings. */
function countImporters(files: readonly Looked[]): ReadonlyMap<string, number> {
  const byStem = new Map<string, string[]>();
  const add = (stem: string, path: string): void => {
    byStem.set(stem, [...(byStem.get(stem) ?? []), path]);
  };
  for (const { path } of files.filter((file) => isSource.test(file.path))) {
    const stem = path.replace(/(?:\/(?:index|mod|__init__))?\.[^./]+$/, "");
    add(stem.slice(stem.lastIndexOf("/") + 1), stem);
    // A package of Go is a folder.
    if (path.endsWith(".go")) add(stem.split("/").at(-2) ?? "", stem.replace(/\/[^/]+$/, ""));
  }
  const counts = new Map<string, number>();
  for (const { path, imports } of files) {
    for (const named of imports) {
      const steps = named.replaceAll("::", "/").replace(/\.(?:[cm]?[jt]sx?|vue)$/, "");
      const parts = (steps.includes("/") ? steps : steps.replaceAll(".", "/")).split("/");
      const clean = parts.filter(
        (part) => !["", ".", "..", "crate", "super", "self"].includes(part),
      );
      const same = byStem.get(clean.at(-1) ?? "") ?? [];
      const ending = clean.slice(-2).join("/");
      const near = same.filter((stem) => stem === ending || stem.endsWith(`/${ending}`));
      const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
      const nearby = same.filter(
        (stem) => stem.slice(0, Math.max(0, stem.lastIndexOf("/"))) === folder,
      );
      const target = clean.length > 1 ? near : nearby.length > 0 ? nearby : same;
      // A word that fits many files is not a hint.
      if (target.length > 3) continue;
      for (const stem of target) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    }
  }
  return new Map(
    files.map(({ path }) => {
      const stem = path.replace(/(?:\/(?:index|mod|__init__))?\.[^./]+$/, "");
      return [path, counts.get(path.endsWith(".go") ? stem.replace(/\/[^/]+$/, "") : stem) ?? 0];
    }),
  );
}

async function declarationsOf(
  { path, isSecret, names }: Looked,
  readHead: FileList["readHead"],
): Promise<readonly string[]> {
  if (isSecret || names.size === 0) return [];
  const text = readHead(path, 256 * 1024) ?? "";
  if (holdsSecret(text)) return [];
  const isDescribed = /\.[cm]?[jt]sx?$/i.test(path);
  const found = isDescribed ? await describeDeclarations(path, text, 2_000) : "";
  // Not a script, or one that does not parse: its source is nothing to show.
  if (found === "" || text.startsWith(found)) return [`  ${[...names].slice(0, 30).join(", ")}`];
  return found
    .split("\n")
    .slice(0, 12)
    .map((line) => `  ${line.slice(0, 160)}`);
}

function sizeOf({ bytes, lines, isSecret }: Looked): string {
  if (isSecret) return "(secret, not shown)";
  return lines === undefined ? `${Math.ceil(bytes / 1_024)} kB` : `${lines} lines`;
}

function costOf(lines: readonly string[]): number {
  return tokensOf(lines.join("\n"));
}

/** Opens the folders of the best files first, as long as there is room. */
function treeOf(ranked: readonly Looked[], room: number): readonly string[] {
  const entries = new Map<string, Set<string>>();
  const counts = new Map<string, number>();
  const sizes = new Map<string, string>();
  const add = (folder: string, entry: string): void => {
    const known = entries.get(folder) ?? new Set();
    entries.set(folder, known.add(entry));
  };
  for (const file of ranked) {
    let folder = "";
    for (const step of file.path.split("/").slice(0, -1)) {
      const next = `${folder}${step}/`;
      add(folder, next);
      counts.set(next, (counts.get(next) ?? 0) + 1);
      folder = next;
    }
    add(folder, file.path);
    sizes.set(file.path, sizeOf(file));
  }
  const shown = (folder: string, open: ReadonlySet<string>): readonly string[] =>
    [...(entries.get(folder) ?? [])].flatMap((path) => (open.has(path) ? shown(path, open) : path));
  const render = (open: ReadonlySet<string>): readonly string[] =>
    shown("", open)
      .toSorted()
      .map((path) => `${path} ${sizes.get(path) ?? `(${counts.get(path)} files)`}`);
  const cut = (lines: readonly string[]): readonly string[] => {
    let left = room - 20;
    const kept = lines.filter((line) => (left -= tokensOf(line)) >= 0);
    return kept.length === lines.length ? kept : [...kept, `… ${lines.length - kept.length} more`];
  };
  const open = new Set<string>();
  let best = render(open);
  for (const { path } of ranked.slice(0, 60)) {
    const parts = path.split("/").slice(0, -1);
    const more = new Set(open);
    for (const depth of parts.keys()) more.add(`${parts.slice(0, depth + 1).join("/")}/`);
    if (more.size === open.size) continue;
    const next = render(more);
    if (costOf(next) > room - 20) continue;
    for (const folder of more) open.add(folder);
    best = next;
  }
  return cut(["", "Tree:", ...best]);
}
