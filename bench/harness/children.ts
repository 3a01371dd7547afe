import type { ChildProcess } from "node:child_process";

const children = new Set<ChildProcess>();
let isWatching = false;

/**
 * Ends a child with this process, however this one ends but by SIGKILL; and this process with a
 * child that fails, since a caller that waits for its word would wait forever.
 */
export function endWithUs<T extends ChildProcess>(
  child: T,
  { mayFail = false }: { readonly mayFail?: boolean } = {},
): T {
  children.add(child);
  child.once("exit", (code) => {
    children.delete(child);
    if (mayFail || code === 0 || code === null) return;
    console.error(`${child.spawnargs.join(" ").slice(0, 500)} ended with ${code}`);
    process.exit(1);
  });
  watch();
  return child;
}

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.once("exit", () => {
    for (const child of children) child.kill("SIGKILL");
  });
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.once(signal, () => process.exit(1));
  }
}
