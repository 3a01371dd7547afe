import { readFileSync } from "node:fs";

/** In milliseconds; two signals within 500 ms count as one, as when a whole group gets SIGTERM. */
const interval = 250;

/** How to look at other processes; a test replaces it. */
export interface ProcessTable {
  /** Returns the process that started this one. On Windows it stays the same after its end. */
  readonly parent: () => number;
  /** Throws an error with the code `ESRCH` when a process does not exist. */
  readonly check: (pid: number) => void;
  /** Returns the parent of a shell, on Linux, where the process is a shell that npm started. */
  readonly parentOfShell: (pid: number) => string | undefined;
}

/**
 * When npm started this process, emits SIGTERM once npm or its shell has ended: npm passes signals
 * to its shell only, and some shells, such as Debian's, end without passing them on. Without a
 * listener the exit code is 143.
 */
export function stopWithNpm(table: ProcessTable = ofThisSystem): void {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const shell = table.parent();
  const npm = table.parentOfShell(shell);
  const timer = setInterval(() => {
    const hasNpm = npm === undefined || (table.parentOfShell(shell) ?? npm) === npm;
    if (table.parent() === shell && exists(shell, table) && hasNpm) return;
    clearInterval(timer);
    // On Windows `process.kill` would end this process without a call of its listeners.
    // oxlint-disable-next-line unicorn/no-process-exit
    if (!process.emit("SIGTERM", "SIGTERM")) process.exit(143);
  }, interval).unref();
}

function exists(pid: number, { check }: ProcessTable): boolean {
  try {
    check(pid);
    return true;
  } catch (error) {
    // Another error means that the process is another user's.
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

const ofThisSystem: ProcessTable = {
  parent: () => process.ppid,
  check: (pid) => void process.kill(pid, 0),
  parentOfShell(pid) {
    try {
      // The parent of another one, such as npm itself, may end: it is the shell of a terminal.
      return /^\d+ \(sh\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1];
    } catch {
      return undefined;
    }
  },
};
