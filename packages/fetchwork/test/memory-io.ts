import type { CommandIo } from "../src/command/command-io.ts";

/** What a test passes to a command instead of a process. */
export interface MemoryIo extends CommandIo {
  readonly written: { stdout: string; stderr: string };
}

/** Makes the world of a command: what is written is kept. */
export function memoryIo(given: Partial<CommandIo> = {}): MemoryIo {
  const written = { stdout: "", stderr: "" };
  const textOf = (content: string | Uint8Array): string =>
    typeof content === "string" ? content : new TextDecoder().decode(content);
  return {
    stdin: emptyInput(),
    stdout: { write: (content) => void (written.stdout += textOf(content)), isTerminal: false },
    stderr: { write: (content) => void (written.stderr += textOf(content)), isTerminal: false },
    env: {},
    cwd: import.meta.dirname,
    signal: new AbortController().signal,
    ...given,
    written,
  };
}

async function* emptyInput(): AsyncGenerator<Uint8Array> {}
