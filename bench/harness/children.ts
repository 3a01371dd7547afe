import type { ChildProcess } from "node:child_process";

const children = new Set<ChildProcess>();
let isWatching = false;

/** Ends a child with this process, however this one ends but by SIGKILL. */
export function endWithUs<T extends ChildProcess>(child: T): T {
  children.add(child);
  child.once("exit", () => children.delete(child));
  watch();
  return child;
}

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.once("exit", () => {
    for (const child of children) child.kill("SIGKILL");
  });
  process.once("SIGTERM", () => process.exit(143));
  process.once("SIGINT", () => process.exit(130));
}
