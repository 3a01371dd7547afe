import { readdirSync, readFileSync } from "node:fs";

/** Ticks of the clock in `/proc` per second; Linux has no other number. */
const ticks = 100;

/**
 * Measures work that other processes do: the time that it took, or that of the processor where this was less, because
 * something else had the machine meanwhile. Linux tells of the processor, other systems of the time alone.
 *
 * @param root - Process that takes part with all that it has started, beside what this process has run to its end.
 */
export async function spentTime(
  work: () => Promise<void>,
  root: () => number | undefined,
): Promise<number> {
  const [begin, used] = [performance.now(), processorTime(root())];
  await work();
  const processor = processorTime(root()) - used;
  return Math.min(performance.now() - begin, processor > 0 ? processor : Infinity);
}

/** Milliseconds that a process and its descendants, and ended children of this process, had a processor. */
function processorTime(root: number | undefined): number {
  const all = new Map(processes().map((name) => [Number(name), statOf(name)]));
  let total = 0;
  for (const [id, fields] of all) {
    const isOwn = id === process.pid;
    if (!isOwn && !descends(id, root, all)) continue;
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    total += (isOwn ? 0 : user + system) + childUser + childSystem;
  }
  return (total * 1_000) / ticks;
}

function descends(
  id: number,
  root: number | undefined,
  all: ReadonlyMap<number, readonly number[]>,
): boolean {
  for (let at: number | undefined = id; at !== undefined; at = all.get(at)?.[1]) {
    if (at === root) return true;
  }
  return false;
}

function processes(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** Fields behind the name, which may have blanks: state, parent, group and so on. */
function statOf(name: string): readonly number[] {
  try {
    const text = readFileSync(`/proc/${name}/stat`, "utf8");
    return text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
  } catch {
    return []; // It has ended.
  }
}
