import { addAbortSignal } from "node:stream";
import type { CommandIo, CommandOutput } from "./command-io.ts";

/** Milliseconds in which repeated signals count as one: of the terminal, and of npm. */
const together = 500;

/**
 * Takes the streams, environment and signals of this process. The first Ctrl-C or SIGTERM aborts
 * `signal`, a later one ends the process.
 */
export function processIo(): CommandIo {
  const stop = new AbortController();
  let since = 0;
  for (const [name, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) {
        if (performance.now() - since > together) process.exit(code);
        return;
      }
      since = performance.now();
      stop.abort(new Error("interrupted"));
    });
  }
  // `fetchwork … | head` closes the pipe early; that is not a failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // oxlint-disable-next-line unicorn/no-process-exit -- the reader of the output is gone
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const { env } = process;
  let stdin: CommandIo["stdin"] | undefined;
  return {
    // Opened on first read, because an unread pipe would keep the process alive. A user who stops
    // the command also stops waiting for it.
    get stdin() {
      stdin ??= addAbortSignal(stop.signal, process.stdin);
      return stdin;
    },
    stdout: output(process.stdout, env),
    stderr: output(process.stderr, env),
    env,
    cwd: process.cwd(),
    signal: stop.signal,
  };
}

function output(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): CommandOutput {
  const isPlain = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return {
    write: (content) => void stream.write(content),
    isTerminal: stream.isTTY && !isPlain,
    get columns() {
      return stream.columns;
    },
    get rows() {
      return stream.rows;
    },
  };
}
