import { readdirSync, readFileSync } from "node:fs";

/** Ticks of the clock in `/proc` per second; Linux has no other number. */
const ticks = 100;

/**
 * Measures work that other processes do: the time that it took, or that of the processor where this was less, because
 * something else had the machine meanwhile. Linux tells of the processor, other systems of the time alone.
 *
 * @param group - Leader of a process group that takes part, beside the children of this process.
 */
export async function spentTime(
  work: () => Promise<void>,
  group: () => number | undefined,
): Promise<number> {
  const [begin, used] = [performance.now(), processorTime(group())];
  await work();
  const processor = processorTime(group()) - used;
  return Math.min(performance.now() - begin, processor > 0 ? processor : Infinity);
}

/** Milliseconds that a process group, and ended children of this process, had a processor. */
function processorTime(group: number | undefined): number {
  let total = 0;
  for (const name of processes()) {
    const isOwn = Number(name) === process.pid;
    const fields = statOf(name);
    if (!isOwn && (group === undefined || fields[2] !== group)) continue;
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = fields.slice(11, 15);
    total += (isOwn ? 0 : user + system) + childUser + childSystem;
  }
  return (total * 1_000) / ticks;
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
