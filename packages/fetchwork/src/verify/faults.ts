import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import type { Finding } from "@fetchwork/verify";

/** Fault of a verification, with its place: a finding, or a field missing in the baseline. */
export interface Fault {
  /** The code of the finding, or `opened`. */
  readonly code: string;
  /** Subject of the fault: `article.email`, or the way for a finding about no document. */
  readonly subject: string;
  /** Description of what happened, in one line. */
  readonly message: string;
  /** Advice to remove the fault. */
  readonly fix: string;
  /** The same for the same fault of another run. */
  readonly key: string;
  /** Path of the file, relative to the base, with `/`. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** Advice about a field that a baseline does not have. */
export const openedFix = "Hide the field, or write a new baseline";

/** A file of the project. */
interface Source {
  readonly file: string;
  readonly text: string;
}

/** Facts about a verification. */
interface Verified {
  readonly findings: readonly Finding[];
  readonly opened: readonly string[];
  readonly keyOf: (finding: Finding) => string;
}

/**
 * Finds the place of each finding and of each opened field: the file of the definition where it is
 * known, else of the service, else `package.json`.
 *
 * @param root - Folder of the project.
 * @param base - Folder that paths are relative to, such as that of the repository.
 */
export async function locateFaults(
  { findings, keyOf, opened }: Verified,
  { base, root }: { readonly base: string; readonly root: string },
): Promise<readonly Fault[]> {
  const sources = await readSources(join(root, "src"), base);
  const missing = { file: pathFrom(base, join(root, "package.json")), line: 1 };
  const service = placeOf(sources, /\bdefineService\(/g) ?? missing;
  const found = findings.map((finding) => {
    const { caller, code, field, fix, request, resource, status, way } = finding;
    const subject = [resource, field].filter((part) => part !== undefined).join(".") || way;
    const message = `${caller} by ${way}: ${request.method} ${request.path} -> ${status}`;
    const place = placeOfRoute(sources, way) ?? placeOfResource(sources, resource) ?? service;
    return { code, subject, message, fix, key: keyOf(finding), ...place };
  });
  const shown = opened.map((one) => {
    const [subject = "", caller = ""] = one.split(" ");
    const [resource] = subject.split(".");
    return {
      code: "opened",
      subject,
      message: `${caller} reads ${subject}, which the baseline does not have`,
      fix: openedFix,
      key: `opened ${one}`,
      ...(placeOfResource(sources, resource) ?? service),
    };
  });
  return [...found, ...shown];
}

async function readSources(folder: string, base: string): Promise<readonly Source[]> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const files = names.filter((name) => /(?<!\.test|\.d)\.[cm]?[jt]s$/.test(name)).toSorted();
  return Promise.all(
    files.map(async (name) => ({
      file: pathFrom(base, join(folder, name)),
      text: await readFile(join(folder, name), "utf8"),
    })),
  );
}

function pathFrom(base: string, file: string): string {
  return relative(base, file).split(sep).join("/");
}

type Place = Pick<Fault, "file" | "line">;

function placeOfResource(sources: readonly Source[], name: string | undefined): Place | undefined {
  if (name === undefined) return undefined;
  const defining = sources.filter(({ text }) => /\bdefineResource\(/.test(text));
  const users = name === "user" ? placeOf(sources, /\bdefineUser\(/g) : undefined;
  return placeOf(defining, /\bname:\s*["'`]([^"'`]+)/g, name) ?? users;
}

function placeOfRoute(sources: readonly Source[], operation: string): Place | undefined {
  return placeOf(sources, /\boperation:\s*["'`]([^"'`]+)/g, operation);
}

/** Finds a pattern; with a name, one whose group is the name. */
function placeOf(sources: readonly Source[], pattern: RegExp, name?: string): Place | undefined {
  for (const { file, text } of sources) {
    const match = [...text.matchAll(pattern)].find(([, group]) => group === name);
    if (match) return { file, line: text.slice(0, match.index).split("\n").length };
  }
  return undefined;
}
