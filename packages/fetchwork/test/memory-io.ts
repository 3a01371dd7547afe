import type { CommandIo } from "../src/command-io.ts";

/** What a test gives a command instead of a process. */
export interface MemoryIo extends CommandIo {
  readonly written: { stdout: string; stderr: string };
}

/** Makes the world of a command: what is written is kept. */
export function memoryIo(given: Partial<CommandIo> = {}): MemoryIo {
  const written = { stdout: "", stderr: "" };
  return {
    stdin: emptyInput(),
    stdout: { write: (text) => void (written.stdout += text), isTerminal: false },
    stderr: { write: (text) => void (written.stderr += text), isTerminal: false },
    env: {},
    cwd: import.meta.dirname,
    signal: new AbortController().signal,
    ...given,
    written,
  };
}

async function* emptyInput(): AsyncGenerator<Uint8Array> {}
