import { closedError } from "../../api/errors.ts";

/** Counts what is under way, so that closing waits for what was begun before it. */
export class Running {
  #count = 0;
  #isClosed = false;
  #whenIdle: (() => void) | undefined;

  /** @throws {DocumentsError} `ERR_DOCUMENTS_CLOSED` */
  begin(): void {
    if (this.#isClosed) throw closedError();
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#whenIdle?.();
  }

  /** Lets nothing more begin, and waits until everything has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }
}
