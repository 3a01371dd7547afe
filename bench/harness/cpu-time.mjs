// CPU time of processes on Linux, in nanoseconds of each thread.
import { readdirSync, readFileSync } from "node:fs";

/** Starts counting; the result returns the microseconds that the processes have used since. */
export function startCpuTimer(pidsOf) {
  const before = threadTimes(pidsOf());
  return () => {
    let used = 0;
    // A thread that has ended since is not counted, one that began is.
    for (const [thread, time] of threadTimes(pidsOf())) used += time - (before.get(thread) ?? 0);
    return used / 1000;
  };
}

/** The process with its children and theirs, like a server of PostgreSQL. */
export function processTree(pid) {
  const children = read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean);
  return [pid, ...children.flatMap(processTree)];
}

/** Resident memory in MiB. */
export function residentMemory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1]) / 1024;
}

function threadTimes(pids) {
  const times = new Map();
  for (const pid of pids) {
    for (const thread of threadsOf(pid)) {
      const time = Number(read(`/proc/${pid}/task/${thread}/schedstat`).split(" ")[0]);
      times.set(thread, time);
    }
  }
  return times;
}

function threadsOf(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** A process may end at any time. */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
