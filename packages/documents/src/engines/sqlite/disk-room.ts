import { DocumentsError } from "../../api/errors.ts";
import type { Connection } from "./connection/connection.ts";
import type { Reserve } from "./file/reserve.ts";
import type { Session } from "./session.ts";
import type { Writer } from "./writer.ts";

/** The reserve is looked at again after so many changes or milliseconds. */
const changesPerLook = 256;
const lookInterval = 1000;
const pageSize = 4096;
const unlimitedPages = 4_294_967_294;
/** By so many pages a removal may make the file longer: it frees more, but may write first. */
const maxAllowance = 256;
const removalTimeout = 0x7fff_ffff;

/**
 * Lets documents be removed on a full disk, and others be added in their place.
 *
 * For a removal the reserve is given away. From then on the file does not become longer until the disk has room for another
 * reserve: what is added takes the pages that removals freed. Otherwise the log would fill with new pages for which the
 * file has no room, and without a reserve nothing could be removed again.
 */
export class DiskRoom {
  readonly #writer: Writer;
  readonly #connection: Connection;
  readonly #reserve: Reserve;
  /** What is done about a full disk. */
  readonly #running = new Set<Promise<void>>();
  #changes = 0;
  #lookedAt = 0;
  #isLimited = false;

  constructor(writer: Writer, connection: Connection, reserve: Reserve) {
    this.#writer = writer;
    this.#connection = connection;
    this.#reserve = reserve;
    this.#limit();
    this.#lookAside();
  }

  /** Counts a change, and looks at the reserve from time to time. */
  count(): void {
    this.#changes += 1;
    const isDue = performance.now() - this.#lookedAt > lookInterval;
    if (isDue || this.#changes >= changesPerLook) this.#lookAside();
  }

  /** Runs a change. */
  write<R>(work: (session: Session) => R): Promise<R> {
    this.count();
    return this.#writer.write(work).catch((error: unknown) => {
      if (!isFull(error)) throw error;
      return this.#track(this.#writeAgain(work, error));
    });
  }

  /** Runs a change that frees room. */
  async free<R>(work: (session: Session) => R): Promise<R> {
    try {
      return await this.write(work);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    return this.#track(this.#freeAgain(work));
  }

  /** Lets changes of the next transaction fit, where one failed because the log has no room. */
  async restartIfFull(error: unknown): Promise<void> {
    if (!isFull(error)) return;
    await this.#look();
    if (this.#isLimited) await this.#writer.restartLog();
  }

  /** Waits for what is done about a full disk. */
  async close(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** In a file that does not become longer, a change fits if the log begins again and pages are free. */
  async #writeAgain<R>(work: (session: Session) => R, error: unknown): Promise<R> {
    const wasLimited = this.#isLimited;
    await this.#look();
    if (!wasLimited && !this.#isLimited) throw error;
    await this.#writer.restartLog();
    return this.#writer.write(work);
  }

  /** Alone in its transaction: otherwise another change that does not fit would fail it. */
  async #freeAgain<R>(work: (session: Session) => R): Promise<R> {
    await this.#reserve.release();
    this.#limit();
    await this.#writer.restartLog();
    try {
      return await this.#writer.transaction((session) => {
        this.#allow();
        return session.atomically(() => work(session));
      }, removalTimeout);
    } finally {
      await this.#look();
    }
  }

  #lookAside(): void {
    // What fails there is met by the change that needs it.
    void this.#track(this.#look().catch(() => undefined));
  }

  async #look(): Promise<void> {
    this.#lookedAt = performance.now();
    this.#changes = 0;
    await this.#reserve.make();
    this.#limit();
  }

  /** Keeps the file from becoming longer while the reserve is used. */
  #limit(): void {
    const isLimited = this.#reserve.state === "used" && !this.#reserve.hasRoom;
    if (!isLimited && !this.#isLimited) return;
    this.#isLimited = isLimited;
    // A maximum below the number of pages is that number.
    this.#connection.exec(`PRAGMA max_page_count = ${isLimited ? 1 : unlimitedPages}`);
  }

  /** Lets the file become a little longer, by what the disk surely has. */
  #allow(): void {
    if (!this.#isLimited) return;
    const allowance = Math.min(maxAllowance, Math.floor(this.#reserve.free / 8 / pageSize));
    const [pages] = this.#connection.get("PRAGMA page_count", []) ?? [];
    this.#connection.exec(`PRAGMA max_page_count = ${Number(pages) + allowance}`);
  }

  #track<R>(running: Promise<R>): Promise<R> {
    const settled = running.then(
      () => undefined,
      () => undefined,
    );
    this.#running.add(settled);
    void settled.finally(() => this.#running.delete(settled));
    return running;
  }
}

/** Whether an error says that the disk of a store is full. */
export function isFull(error: unknown): boolean {
  return error instanceof DocumentsError && error.code === "ERR_DOCUMENTS_FULL";
}
