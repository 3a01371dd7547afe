import { randomBytes } from "node:crypto";
import { statfsSync, statSync, truncateSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import { promisify } from "node:util";

const chunkSize = 1024 * 1024;
/** A checkpoint brings up to 4 MiB of new pages into the file; a removal takes some room as well. */
const reserveSize = 5 * chunkSize;
/** A smaller store is on no disk that is full because of it. */
const minStoreSize = 4 * chunkSize;

/** What the reserve of a store is: `used` when its room was given away, or was never had in full. */
export type ReserveState = "missing" | "used" | "whole";

/**
 * A file that takes room of the disk, to be given away when the disk is full: without any room, a log that was not brought
 * into the file yet keeps every change out, removals too.
 *
 * A used reserve is an empty file and not a missing one, so that the next process, and others, know of it.
 */
export class Reserve {
  readonly #store: string;
  readonly #path: string;
  #making: Promise<void> | undefined;
  #releases = 0;

  /** `path` is the file of the store. */
  constructor(path: string) {
    this.#store = path;
    this.#path = `${path}-reserve`;
  }

  get state(): ReserveState {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.isFile() !== true) return "missing";
    return found.size < reserveSize ? "used" : "whole";
  }

  /** Whether the disk has room for a reserve, and as much again: changes need some as well. */
  get hasRoom(): boolean {
    return this.free >= 2 * reserveSize;
  }

  /** Bytes that are free on the disk; 0 where that cannot be found out. */
  get free(): number {
    try {
      const { bavail, bsize } = statfsSync(this.#store);
      return bavail * bsize;
    } catch {
      return 0;
    }
  }

  /** Takes the room, if the disk has it and the store is large enough to need it. */
  make(): Promise<void> {
    this.#making ??= this.#make(2 * reserveSize)
      // No room, no right: the store works without a reserve.
      .catch(() => undefined)
      .finally(() => {
        this.#making = undefined;
      });
    return this.#making;
  }

  /** Takes the room that the log of a closed store left, in place of a used reserve. */
  async makeFromLog(): Promise<void> {
    if (this.state !== "used") return;
    await this.#making;
    await this.#make(reserveSize).catch(() => undefined);
  }

  /** Gives the room away. */
  async release(): Promise<void> {
    this.#releases += 1;
    await this.#making;
    try {
      if (this.state === "whole") truncateSync(this.#path);
    } catch {
      // Of another user, perhaps; what needs the room fails on its own.
    }
  }

  async #make(minFree: number): Promise<void> {
    const { state } = this;
    if (state === "whole" || this.free < minFree) return;
    const { size, mode } = statSync(this.#store);
    if (size < minStoreSize) return;
    const releases = this.#releases;
    // Anyone who may write to the store may use its reserve.
    const file = await open(this.#path, "w", mode & 0o777);
    try {
      // What is random takes its room where a file system compresses or leaves out zeros.
      const chunk = await promisify(randomBytes)(chunkSize);
      for (let at = 0; at < reserveSize && releases === this.#releases; at += chunkSize) {
        await file.write(chunk, 0, chunkSize, at);
      }
      if (releases !== this.#releases) await file.truncate();
    } catch {
      // Another was faster to take the room. A store that never had a reserve goes on as without one.
      await (state === "missing" ? rm(this.#path) : file.truncate());
    } finally {
      await file.close();
    }
  }
}
