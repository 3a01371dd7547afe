import { createHash } from "node:crypto";
import { readFile, type FileHandle } from "node:fs/promises";
import { AgentError } from "../errors.ts";

/** One line of a journal. */
export interface JournalEntry {
  readonly type: string;
  readonly data: unknown;
}

interface Waiting {
  readonly line: string;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Entries that are on the disk when `append` resolves. An entry that was written while the process
 * was ended is recognised by its check sum and cut off; damage anywhere else is an error.
 */
export class Journal {
  readonly entries: readonly JournalEntry[];
  readonly #file: FileHandle;
  #sequence: number;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #broken: AgentError | undefined;

  private constructor(file: FileHandle, entries: readonly JournalEntry[]) {
    this.#file = file;
    this.#sequence = entries.length;
    this.entries = entries;
  }

  /** Reads the journal in an open file and continues it. The journal closes the file. */
  static async over(file: FileHandle): Promise<Journal> {
    try {
      const { entries, length } = readEntries(await file.readFile());
      await file.truncate(length);
      return new Journal(file, entries);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Resolves when the entry is on the disk. Entries that wait share one write. */
  append(type: string, data: unknown): Promise<void> {
    if (this.#broken !== undefined) return Promise.reject(this.#broken);
    const line = encode(this.#sequence, type, data);
    this.#sequence += 1;
    return new Promise((done, failed) => {
      this.#waiting.push({ line, done, failed });
      this.#writing ??= this.#write();
    });
  }

  /** Waits for what is being written, and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        let { size } = await this.#file.stat();
        let bytes = Buffer.from(batch.map(({ line }) => line).join(""));
        while (bytes.byteLength > 0) {
          // A disk that is nearly full takes a part first.
          const { bytesWritten } = await this.#file.write(bytes, 0, bytes.byteLength, size);
          size += bytesWritten;
          bytes = bytes.subarray(bytesWritten);
        }
        await this.#file.datasync();
        for (const { done } of batch) done();
      } catch (cause) {
        // Half a line may be there; an entry after it would make it damage in the middle.
        const error = new AgentError("ERR_AGENT_WRITE", "the journal cannot be written", { cause });
        this.#broken = error;
        for (const { failed } of [...batch, ...this.#waiting]) failed(error);
        this.#waiting = [];
      }
    }
    this.#writing = undefined;
  }
}

/** The whole entries of a journal that another process may be writing. */
export async function readJournal(path: string): Promise<readonly JournalEntry[]> {
  return readEntries(await readFile(path)).entries;
}

function encode(sequence: number, type: string, data: unknown): string {
  const body = JSON.stringify([sequence, type, data]);
  return `${checkSum(body)} ${body}\n`;
}

function checkSum(body: string): string {
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

interface Read {
  readonly entries: readonly JournalEntry[];
  /** Bytes that are whole entries. */
  readonly length: number;
}

function readEntries(bytes: Uint8Array): Read {
  const entries: JournalEntry[] = [];
  let start = 0;
  while (start < bytes.length) {
    const end = bytes.indexOf(10, start);
    const line = end === -1 ? undefined : new TextDecoder().decode(bytes.subarray(start, end));
    const entry = line === undefined ? undefined : decode(line, entries.length);
    if (entry === undefined) {
      // Only the end can be torn: what follows a damaged line was synced after it.
      if (end !== -1 && bytes.indexOf(10, end + 1) !== -1) {
        throw new AgentError(
          "ERR_AGENT_JOURNAL",
          `entry ${entries.length} of the journal is damaged`,
        );
      }
      break;
    }
    entries.push(entry);
    start = end + 1;
  }
  return { entries, length: start };
}

function decode(line: string, sequence: number): JournalEntry | undefined {
  const body = line.slice(17);
  if (line.slice(0, 16) !== checkSum(body)) return undefined;
  const value: unknown = JSON.parse(body);
  if (!Array.isArray(value) || value[0] !== sequence || typeof value[1] !== "string")
    return undefined;
  return { type: value[1], data: value[2] };
}
