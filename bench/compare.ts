// Measures everything against its peers, one part after another, and writes docs/benchmarks.md with
// its pictures.
//
//   npm run compare -- [--only blog,webhooks] [--quick] [--rounds N] [--render]
//
// A full run takes about half an hour on a quiet machine with two cores, a quick one about ten
// minutes. Each part is a separate process group with a limit of time; nothing of it is left
// behind. The results of a part that fails stay what they were, and the others go on; the exit code
// is 1 then.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import type { About } from "./report/about.ts";
import { abouts } from "./report/abouts.ts";
import { bench, resultsFile } from "./report/inputs.ts";
import { writePage } from "./report/write-page.ts";

const GRACE = 5_000;
const BUILD_MINUTES = 4;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    rounds: { type: "string" },
    render: { type: "boolean", default: false },
  },
});
const chosen = chosenParts(values.only);
const failed: string[] = [];
let running: ChildProcess | undefined;
let isEnding = false;
process.once("exit", () => endGroup(running, "SIGKILL"));
for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
  process.once(signal, () => {
    isEnding = true;
    // What runs removes its files; nothing else is begun.
    endGroup(running, "SIGTERM");
    setTimeout(() => process.exit(1), running === undefined ? 0 : GRACE);
  });
}

if (!values.render) {
  const startedAt = performance.now();
  await build();
  for (const about of chosen) {
    console.log(`\n## ${about.title}\n`);
    const reason = await measure(about);
    if (reason !== undefined) failed.push(`${about.part}: ${reason}`);
  }
  console.log(`\nAll: ${Math.round((performance.now() - startedAt) / 60_000)} minutes`);
}
for (const file of writePage()) console.log(`wrote ${file}`);
for (const failure of failed) console.error(`failed: ${failure}`);
process.exit(failed.length === 0 ? 0 : 1);

function chosenParts(only: string | undefined): readonly About[] {
  if (only === undefined) return abouts;
  const names = only.split(",");
  const unknown = names.filter((name) => !abouts.some(({ part }) => part === name));
  if (unknown.length > 0) {
    const known = abouts.map(({ part }) => part).join(", ");
    console.error(`no such part: ${unknown.join(", ")}; there are ${known}`);
    process.exit(2);
  }
  return abouts.filter(({ part }) => names.includes(part));
}

/** Three parts measure what is published. */
async function build(): Promise<void> {
  const root = path.join(bench, "..");
  const tsc = path.join(root, "node_modules/typescript/bin/tsc");
  const args = [tsc, "-b", "tsconfig.build.json"];
  const reason = await run(args, { cwd: root, minutes: BUILD_MINUTES, env: process.env });
  if (reason !== undefined) failed.push(`the build: ${reason}`);
}

/** Returns the reason when it fails. */
async function measure({ part, flags = [], minutes }: About): Promise<string | undefined> {
  const folder = mkdtempSync(path.join(os.tmpdir(), "compare-"));
  // PostgreSQL runs as another user.
  chmodSync(folder, 0o755);
  const file = path.join(folder, "results.json");
  const script = path.join(bench, part, "run.mjs");
  const args = [...flags, script, "--json", file];
  if (values.quick) args.push("--quick");
  if (values.rounds !== undefined) args.push("--rounds", values.rounds);
  try {
    const env = { ...process.env, TMPDIR: folder };
    const reason = await run(args, { cwd: bench, minutes, env });
    if (reason !== undefined) return reason;
    if (!existsSync(file)) return "it left no results";
    mkdirSync(path.dirname(resultsFile(part)), { recursive: true });
    copyFileSync(file, resultsFile(part));
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    if (isEnding) process.exit(1);
  }
}

interface RunOptions {
  readonly cwd: string;
  readonly minutes: number;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs Node as a process group, which is ended with its first process, or when its time is over.
 */
async function run(
  args: readonly string[],
  { cwd, minutes, env }: RunOptions,
): Promise<string | undefined> {
  if (isEnding) process.exit(1);
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "inherit", "inherit"],
  });
  running = child;
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      endGroup(child, "SIGTERM");
    }, minutes * 60_000),
    setTimeout(() => endGroup(child, "SIGKILL"), minutes * 60_000 + GRACE),
  ];
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, string | null];
    if (isLate) return `not done after ${minutes} minutes`;
    return code === 0 ? undefined : `ended with ${code ?? signal}`;
  } catch (error) {
    return String(error);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    endGroup(child, "SIGKILL");
    running = undefined;
  }
}

function endGroup(child: ChildProcess | undefined, signal: NodeJS.Signals): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // Nobody is left.
  }
}
