import { checkFileBytes } from "../errors.ts";
import { changedPaths } from "../files/changed-paths.ts";
import { validateFilePath, validateFilePaths } from "../files/file-path.ts";
import { holdsSecret, mayBeSecret } from "../project/secret-files.ts";

/** Why a tool does not do what it was called for. The model reads it. */
export class ToolRefusal extends Error {}

/** Limits for the changed files of a program. */
export interface ChangeLimits {
  readonly maxFileBytes: number;
  /** Whether files may be taken away. */
  readonly canRemove: boolean;
  /** Whether files may be changed that run by themselves, or hold secrets. */
  readonly allowProtected: boolean;
  /** Whether something is in the place of a path. Default: the files that are known. */
  readonly isTaken?: ((path: string) => boolean) | undefined;
}

/** Files that run by themselves on a machine or server: hooks, workflows, editor settings. */
const isProtected =
  /^(?:\.git|\.husky|\.github|\.gitlab-ci\.yml|\.vscode|\.idea|\.devcontainer|\.envrc|\.npmrc)(?:\/|$)/i;

/** Whether a file runs by itself on somebody's machine or server, or may hold secrets. */
export function isGuarded(path: string): boolean {
  return isProtected.test(path) || mayBeSecret(path);
}

/**
 * The files of a program as a loop changes them, in memory: nothing is written before everything is
 * decided. Each refusal is a {@link ToolRefusal}.
 */
export class ChangedFiles {
  readonly #before: ReadonlyMap<string, string>;
  readonly #unread: ReadonlySet<string>;
  readonly #limits: ChangeLimits;
  readonly #now: Map<string, string>;
  /** Paths whose text the model was shown, or has written. */
  readonly #seen = new Set<string>();

  /** @param unread paths of files that are no text, or too long */
  constructor(
    before: ReadonlyMap<string, string>,
    unread: ReadonlySet<string>,
    limits: ChangeLimits,
  ) {
    this.#before = before;
    this.#unread = unread;
    this.#limits = limits;
    this.#now = new Map(before);
  }

  /** Every file as it is now. */
  get files(): ReadonlyMap<string, string> {
    return this.#now;
  }

  /** Files that are not as they were; `undefined`: it is gone. */
  get changed(): ReadonlyMap<string, string | undefined> {
    const paths = changedPaths(this.#before, this.#now);
    return new Map(paths.map((path) => [path, this.#now.get(path)]));
  }

  /** The text of a file, which counts as seen. */
  read(named: string): string {
    const path = this.path(named);
    const text = this.textOf(path);
    this.#seen.add(path);
    return text;
  }

  /** The text of a file that may be shown. */
  textOf(path: string): string {
    if (mayBeSecret(path)) throw new ToolRefusal(`${path} is not shown: it may hold keys.`);
    const text = this.#now.get(path);
    if (text === undefined) throw new ToolRefusal(`There is no file ${path}.`);
    if (holdsSecret(text)) throw new ToolRefusal(`${path} is not shown: it holds a key.`);
    if (text === "" && this.#unread.has(path)) {
      throw new ToolRefusal(`${path} is not shown: it is not text, or too long.`);
    }
    return text;
  }

  /** Replaces a file, or makes it. One that is there must have been seen. */
  write(named: string, text: string): void {
    const path = this.#changeable(named);
    if (this.#now.has(path)) this.#requireSeen(path);
    this.#put(path, text);
  }

  /** Changes a file that was seen. */
  edit(named: string, change: (text: string) => string): void {
    const path = this.#changeable(named);
    const text = this.textOf(path);
    this.#requireSeen(path);
    this.#put(path, change(text));
  }

  /** Takes a file away. */
  remove(named: string): void {
    const path = this.#changeable(named);
    this.#requireRemovable(path);
    this.#now.delete(path);
  }

  /** Moves a file to another path. */
  move(from: string, to: string): void {
    const old = this.#changeable(from);
    const path = this.#changeable(to);
    this.#requireRemovable(old);
    if (this.#now.has(path)) throw new ToolRefusal(`There is a file ${path} already.`);
    const text = this.textOf(old);
    this.#put(path, text);
    this.#now.delete(old);
  }

  /** A path inside of the program, as it is kept. */
  path(named: string): string {
    const checked = validateFilePath(named.replace(/^\.\/+/, ""));
    if (checked.ok) return checked.path;
    throw new ToolRefusal(`The path ${JSON.stringify(named.slice(0, 100))}: ${checked.reason}.`);
  }

  #changeable(named: string): string {
    const path = this.path(named);
    if (!isGuarded(path) || this.#limits.allowProtected) return path;
    throw new ToolRefusal(`${path} is protected: people change it themselves.`);
  }

  #requireSeen(path: string): void {
    if (this.#seen.has(path)) return;
    throw new ToolRefusal(`Read ${path} before you change it.`);
  }

  #requireRemovable(path: string): void {
    if (!this.#now.has(path)) throw new ToolRefusal(`There is no file ${path}.`);
    if (!this.#limits.canRemove) throw new ToolRefusal("Files cannot be removed or moved here.");
    if (this.#now.get(path) === "" && this.#unread.has(path))
      throw new ToolRefusal(`${path} cannot be removed or moved: it is not text, or too long.`);
  }

  #put(path: string, text: string): void {
    checkFileBytes(path, Buffer.byteLength(text), this.#limits.maxFileBytes);
    if (!this.#now.has(path)) {
      const { refused } = validateFilePaths([...this.#now.keys(), path]);
      const own = refused.find((one) => one.path === path);
      if (own !== undefined) throw new ToolRefusal(`The path ${path}: ${own.reason}.`);
      if (!this.#before.has(path) && this.#limits.isTaken?.(path) === true)
        throw new ToolRefusal(`${path} is there, but is ignored by git, a folder or a link.`);
    }
    this.#now.set(path, text);
    this.#seen.add(path);
  }
}
