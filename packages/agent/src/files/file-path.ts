/** A path that can be written on every system, or why it cannot. */
export type PathResult =
  { readonly ok: true; readonly path: string } | { readonly ok: false; readonly reason: string };

/** Bytes of a path, and its folders. */
const maxBytes = 512;
const maxDepth = 24;

/** Names of devices on Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³])(?:\.|$)/i;

/**
 * Checks and normalises a path that a model named: relative, with `/`, in Unicode NFC, and writable
 * on Linux, macOS and Windows. Blanks and quotes around it and `./` before it are removed; whatever
 * could lead out of the folder, or is spelled to look like something else, is refused.
 *
 * @param isOurs whether it may be in `.fetchwork`, which is not for projects. Default: `false`
 */
export function validateFilePath(
  path: string,
  { isOurs = false }: { readonly isOurs?: boolean } = {},
): PathResult {
  if (typeof path !== "string") return refuse("it is not text");
  const trimmed = path
    .slice(0, 4_096)
    .trim()
    .replace(/^(["'`])(.*)\1$/s, "$2")
    .replace(/^(?:\.\/+)+/, "");
  const normal = trimmed.normalize("NFC");
  if (normal === "" || normal === ".") return refuse("it is empty");
  if (!normal.isWellFormed()) return refuse("it has half of a surrogate pair");
  if (/\p{Cc}/u.test(normal)) return refuse("it has a control character");
  if (/[\p{Cf}\p{Zl}\p{Zp}]/u.test(normal)) return refuse("it has an invisible character");
  if (normal.startsWith("/") || /^[a-z]:/i.test(normal)) return refuse("it is absolute");
  if (normal.includes("\\")) return refuse("it has a backslash");
  if (/[<>:"|?*]/.test(normal)) return refuse('it has one of < > : " | ? *');
  if (normal.endsWith("/")) return refuse("it is a folder");
  if (new TextEncoder().encode(normal).byteLength > maxBytes) {
    return refuse(`it is longer than ${maxBytes} bytes`);
  }
  const segments = normal.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.length > maxDepth) return refuse(`it is deeper than ${maxDepth} folders`);
  for (const segment of segments) {
    const reason = refuseSegment(segment);
    if (reason !== undefined) return refuse(reason);
  }
  const [first = ""] = segments;
  if (!isOurs && isNamed(first, ".fetchwork")) return refuse(`${first} is not for projects`);
  if (segments.some((segment) => isNamed(segment, ".git"))) {
    return refuse("it is inside of a .git folder");
  }
  return { ok: true, path: segments.join("/") };
}

function refuse(reason: string): PathResult {
  return { ok: false, reason };
}

function refuseSegment(segment: string): string | undefined {
  if (segment === "..") return "it leads out of the folder";
  if (/[. ]$/.test(segment)) return "a name ends with a dot or a blank";
  if (segment.startsWith(" ")) return "a name begins with a blank";
  if (device.test(segment)) return "it is the name of a device on Windows";
  if (new TextEncoder().encode(segment).byteLength > 255) return "a name is longer than 255 bytes";
  return undefined;
}

/** `.GIT` is `.git` on many disks, and so is its short name `GIT~1`. */
function isNamed(segment: string, name: string): boolean {
  const folded = foldPath(segment);
  const short = `${name.slice(1, 7)}~`;
  return folded === name || (folded.startsWith(short) && /~\d+$/.test(folded));
}

/** The form in which two paths are the same on a disk that ignores case (Windows, macOS). */
export function foldPath(path: string): string {
  return path.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFC");
}

/** A path of a list that cannot be written, and why. */
export interface RefusedPath {
  readonly path: string;
  /** Fault of the path, in words. */
  readonly reason: string;
}

/** A list of paths that can be written together. */
export interface PathList {
  /** Normalised, each once, in the order in which they were named. */
  readonly paths: readonly string[];
  readonly refused: readonly RefusedPath[];
}

/**
 * Checks a list of paths: each for itself. No two may be one file on a disk that ignores case or
 * composes characters. No path may be both a file and a folder. The same path twice is one path.
 */
export function validateFilePaths(list: readonly string[]): PathList {
  const refused: RefusedPath[] = [];
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  for (const named of list) {
    const result = validateFilePath(named);
    if (!result.ok) {
      refused.push({ path: shown(named), reason: result.reason });
      continue;
    }
    const { path } = result;
    const parents = foldersOf(path);
    const key = foldPath(path);
    const same = files.get(key);
    const clash = parents.find((parent) => files.has(foldPath(parent)));
    const spelled = parents.find((parent) => (folders.get(foldPath(parent)) ?? parent) !== parent);
    if (same === path) continue;
    if (same !== undefined) refused.push({ path, reason: `it differs from ${same} only in case` });
    else if (folders.has(key)) refused.push({ path, reason: "it is a folder of another file" });
    else if (clash !== undefined) refused.push({ path, reason: `${clash} is a file` });
    else if (spelled !== undefined) {
      refused.push({ path, reason: `the folder ${spelled} is spelled differently before` });
    } else {
      files.set(key, path);
      for (const parent of parents) folders.set(foldPath(parent), parent);
    }
  }
  return { paths: [...files.values()], refused };
}

function foldersOf(path: string): readonly string[] {
  const segments = path.split("/");
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join("/"));
}

function shown(path: unknown): string {
  return String(path)
    .slice(0, 100)
    .replace(/[\p{Cc}\p{Cf}]/gu, "\u{FFFD}");
}
