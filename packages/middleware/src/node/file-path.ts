/** Files that a path of a URL may name. */
export interface FilePathRules {
  /** Names with a leading dot that may be served, with what is in them. */
  readonly dotFiles: ReadonlySet<string>;
  /** Whether the file system is that of Windows, where more names have a special meaning. */
  readonly isWindows: boolean;
}

/**
 * Decides which file a path names: the names of folders and file below the root, decoded once.
 * Returns undefined for a path that could leave the root, name something hidden, or mean different
 * things to different readers: `..` in any spelling, empty segments, encoded slashes, backslashes,
 * NUL and other controls, malformed escapes, dot files, and on Windows drives, streams, devices and
 * short names.
 *
 * @param path - Starts with a slash; percent-encoded. A slash at the end means the folder itself.
 */
export function filePathOf(path: string, rules: FilePathRules): readonly string[] | undefined {
  if (!path.startsWith("/")) return undefined;
  const encoded = path.slice(1).split("/");
  if (encoded.at(-1) === "") encoded.pop();
  const names: string[] = [];
  for (const segment of encoded) {
    const name = decode(segment);
    if (name === undefined || !isAllowed(name, rules)) return undefined;
    names.push(name);
  }
  return names;
}

/** Whether a name may be served. */
export function isAllowed(name: string, { dotFiles, isWindows }: FilePathRules): boolean {
  // oxlint-disable-next-line no-control-regex
  if (name === "" || /[/\\\0-\x1f\x7f]/.test(name)) return false;
  if (name.startsWith(".") && (/^\.+$/.test(name) || !dotFiles.has(name))) return false;
  return !isWindows || !hasWindowsMeaning(name);
}

function decode(segment: string): string | undefined {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/**
 * Streams and drives (`a:b`), wildcards, names whose end Windows drops (`secret.txt.`), short names
 * (`GIT~1` is `.git`), and devices, which exist in every folder and with every extension.
 */
function hasWindowsMeaning(name: string): boolean {
  return (
    /[<>:"|?*]/.test(name) ||
    /[. ]$/.test(name) ||
    /~\d/.test(name) ||
    /^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³]) *(\..*)?$/i.test(name) ||
    name.startsWith(" ")
  );
}
