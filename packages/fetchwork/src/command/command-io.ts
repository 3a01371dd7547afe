/** Where a command writes. */
export interface CommandOutput {
  /** Writes text, or bytes as they are. */
  write(content: string | Uint8Array): void;
  /** Whether a person reads it; only then there are colours. */
  readonly isTerminal: boolean;
  /** Characters of a line of the terminal. Default: 80. */
  readonly columns?: number | undefined;
  /** Lines of the terminal. Default: 24. */
  readonly rows?: number | undefined;
}

/** Environment of a command; tests pass another one. */
export interface CommandIo {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: CommandOutput;
  readonly stderr: CommandOutput;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the working folder. */
  readonly cwd: string;
  /** Aborts when the user asks the command to stop: Ctrl-C, or SIGTERM. */
  readonly signal: AbortSignal;
}
