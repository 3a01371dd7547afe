import { createHash } from "node:crypto";
import { AgentError } from "../errors.ts";
import { decodeText, type ConfinedFolder } from "./confined-folder.ts";
import { mergeText } from "./merge-text.ts";

/** Policy for a file that somebody changed, or that we did not write. */
export type ConflictPolicy =
  /** Both changes are kept; on the same lines, the file stays and ours is put next to it. */
  | "merge"
  /** The file stays. */
  | "keep"
  /** Ours replaces it; the old one is kept in `.fetchwork/replaced`. */
  | "overwrite"
  /** Nothing is written at all. */
  | "fail";

/** Action on a file. */
export type WriteAction =
  | "created"
  | "updated"
  | "unchanged"
  | "merged"
  | "kept"
  | "conflict"
  | "overwritten"
  | "removed"
  | "skipped";

/** A file that is about to be written. */
export interface ProposedChange {
  readonly path: string;
  readonly action: WriteAction;
  /** Text that is there; undefined: none. */
  readonly before: string | undefined;
  /** Text that will be there; empty where the file is removed. */
  readonly after: string;
  /** Where ours is put when it conflicts; undefined otherwise. */
  readonly beside: string | undefined;
}

/** Decides about a change: write it, leave it, or end the run. */
export type Approver = (
  change: ProposedChange,
) => "apply" | "skip" | "abort" | Promise<"apply" | "skip" | "abort">;

/** A file that was written, or left. */
export interface WrittenFile {
  readonly path: string;
  readonly action: WriteAction;
  readonly bytes: number;
  /** SHA-256 of what is there, in hexadecimal. */
  readonly sha256: string;
  /** Where ours was put because it conflicts. */
  readonly beside?: string | undefined;
}

const manifestPath = ".fetchwork/manifest.json";

/** A writer holds this lock of the folder: its manifest is read, changed and written as one. */
export const writeLock = ".fetchwork/runs/lock";

/** Writes files of a project into its folder and remembers them, to detect others' changes. */
export class ProjectWriter {
  readonly #folder: ConfinedFolder;
  readonly #policy: ConflictPolicy;
  /** Path -> hash of what we wrote last. */
  readonly #written: Map<string, string>;
  readonly #bases = new Map<string, Promise<void>>();

  private constructor(
    folder: ConfinedFolder,
    policy: ConflictPolicy,
    written: Map<string, string>,
  ) {
    this.#folder = folder;
    this.#policy = policy;
    this.#written = written;
  }

  static async open(folder: ConfinedFolder, policy: ConflictPolicy): Promise<ProjectWriter> {
    const text = await folder.read(manifestPath);
    return new ProjectWriter(folder, policy, readManifest(text));
  }

  /** Says what would be done, and changes nothing. */
  async propose(path: string, text: string): Promise<ProposedChange> {
    const bytes = await this.#folder.readBytes(path);
    const before = bytes === undefined ? undefined : decodeText(bytes);
    const change = (action: WriteAction, after: string, beside?: string): ProposedChange => ({
      path,
      action,
      before,
      after,
      beside,
    });
    if (before === undefined) return change("created", text);
    if (before === text) return change("unchanged", text);
    const known = this.#written.get(path);
    if (known === hashOf(before)) return change("updated", text);
    switch (this.#policy) {
      case "keep":
        return change("kept", before);
      case "overwrite":
        return change("overwritten", text);
      case "fail":
        throw conflict(path, "was not written by us, or was changed");
      case "merge":
        break;
    }
    const base = known === undefined ? undefined : await this.#readBase(known);
    // Ours did not change since: what somebody made of it stays.
    if (base === text) return change("kept", before);
    // Bytes that are not UTF-8 would be lost by writing a merge of its text.
    const isText = bytes !== undefined && Buffer.from(before, "utf8").equals(bytes);
    const merged = base === undefined || !isText ? undefined : mergeText(base, before, text);
    return merged === undefined
      ? change("conflict", before, await this.#placeBeside(path, text))
      : change("merged", merged);
  }

  /** Text that we wrote last; undefined where it is not there whole. */
  async #readBase(hash: string): Promise<string | undefined> {
    const base = await this.#folder.read(basePath(hash));
    return base === undefined || hashOf(base) !== hash ? undefined : base;
  }

  /** `a.js.new`, or with a number where somebody has such a file. */
  async #placeBeside(path: string, text: string): Promise<string> {
    for (let number = 1; ; number += 1) {
      const place = number === 1 ? `${path}.new` : `${path}.new${number}`;
      const there = await this.#folder.read(place);
      if (there === undefined || there === text) return place;
    }
  }

  /** Does what was proposed, and remembers ours as the base of the next merge. */
  async apply(
    { path, action, before, after, beside }: ProposedChange,
    text: string,
  ): Promise<WrittenFile> {
    // A reader compares its hash; without it a change of both is a conflict, and nothing is lost.
    await this.#keepBase(text);
    if (action === "overwritten" && before !== undefined) {
      // Its bytes: it may be no text.
      const bytes = (await this.#folder.readBytes(path)) ?? before;
      await this.#folder.write(`.fetchwork/replaced/${hashOf(before)}`, bytes);
    }
    if (beside !== undefined) await this.#folder.write(beside, text);
    if (after !== before) {
      // Somebody may have changed it while an approver was asked: their text is not lost.
      // A new file is linked into its place, which fails where somebody made one.
      if (before !== undefined && (await this.#folder.read(path)) !== before) {
        throw conflict(path, "was changed since it was read");
      }
      await this.#folder.write(path, after, { isNew: before === undefined });
    }
    // Actions `conflict` and `kept` did not take our text over: the file's base stays the old one.
    if (action !== "conflict" && action !== "kept") this.#written.set(path, hashOf(text));
    return written(path, action, after, beside);
  }

  /** Files of the same text have one base, which is written once. */
  #keepBase(text: string): Promise<void> {
    const place = basePath(hashOf(text));
    const kept = this.#bases.get(place) ?? this.#folder.write(place, text, { sync: false });
    this.#bases.set(place, kept);
    return kept;
  }

  /** Puts down what was written. */
  async finish(): Promise<void> {
    const files = Object.fromEntries([...this.#written].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const text = JSON.stringify({ version: 1, files }, undefined, 2);
    await this.#folder.write(manifestPath, `${text}\n`);
  }
}

/** Report on a file. */
export function written(
  path: string,
  action: WriteAction,
  text: string,
  beside?: string,
): WrittenFile {
  const file = { path, action, bytes: Buffer.byteLength(text), sha256: hashOf(text) };
  return beside === undefined ? file : { ...file, beside };
}

/** SHA-256 of bytes, or of a text's UTF-8, in hexadecimal. */
export function hashOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function conflict(path: string, why: string): AgentError {
  return new AgentError("ERR_AGENT_CONFLICT", `${path} ${why}`, { path });
}

function basePath(hash: string): string {
  return `.fetchwork/base/${hash}`;
}

function readManifest(text: string | undefined): Map<string, string> {
  const written = new Map<string, string>();
  if (text === undefined) return written;
  try {
    const value: unknown = JSON.parse(text);
    const files =
      typeof value === "object" && value !== null && "files" in value ? value.files : {};
    for (const [path, hash] of Object.entries(files ?? {})) {
      if (typeof hash === "string" && /^[\da-f]{64}$/.test(hash)) written.set(path, hash);
    }
  } catch {
    // Without it every file counts as somebody else's: nothing is overwritten that should not be.
  }
  return written;
}
