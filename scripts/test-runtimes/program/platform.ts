/** A handler as each runtime has it, with whatever else it passes. */
export type FetchHandler = (
  request: Request,
  ...runtime: readonly unknown[]
) => Response | Promise<Response>;

/** Something that listens. */
export interface Listener {
  /** Without a slash at its end. */
  readonly origin: string;
  close(): void | Promise<void>;
}

/** What a smoke test has of the runtime that it runs on. */
export interface Platform {
  readonly name: "node" | "bun" | "deno" | "workerd";
  /**
   * Listens with the runtime's own server on a real socket of 127.0.0.1; on workerd for one handler
   * at a time.
   */
  listen(handler: FetchHandler): Listener | Promise<Listener>;
  /** Origin of an API that `@fetchwork/rest` serves on the pinned Node. */
  readonly peer: string;
  /** What runs a JavaScript file on this runtime; empty on workerd, which has no processes. */
  readonly command: readonly string[];
}

/** Fails a smoke test unless it got what it expects; compares as JSON, which every runtime has. */
export function expect(what: string, actual: unknown, expected: unknown): void {
  const [got, wanted] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (got !== wanted) throw new Error(`${what}: got ${got}, expected ${wanted}`);
}
