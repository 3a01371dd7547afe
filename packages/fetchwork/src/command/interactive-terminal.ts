import type { ReadStream } from "node:tty";
import type { CommandIo } from "./command-io.ts";

/** The interactive terminal; `undefined` when there is none. */
export function terminalOf({ stdin, env }: CommandIo): ReadStream | undefined {
  // Some CI runners provide a terminal although no one can answer.
  if ((env["CI"] ?? "") !== "" || !("isTTY" in stdin) || stdin.isTTY !== true) return undefined;
  return stdin as AsyncIterable<Uint8Array> as ReadStream; // Only terminals have `isTTY`.
}
