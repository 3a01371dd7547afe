import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Machine } from "./results.ts";

const bench = path.join(import.meta.dirname, "..");

export function thisMachine(): Machine {
  return {
    cpu: os.cpus()[0]?.model ?? "unknown",
    cores: os.availableParallelism(),
    gibibytes: Math.round(os.totalmem() / 2 ** 30),
    system: systemName(),
    node: process.version,
  };
}

/** Of the working tree; "-dirty" when anything but what is measured has changed since. */
export function thisCommit(): string {
  try {
    const git = (...args: readonly string[]): string =>
      execFileSync("git", args, { cwd: path.join(bench, ".."), encoding: "utf8" }).trim();
    const commit = git("rev-parse", "--short", "HEAD");
    const changed = git("status", "--porcelain", "-uno", "--", ".", ":!bench/results", ":!docs");
    return changed === "" ? commit : `${commit}-dirty`;
  } catch {
    return "unknown";
  }
}

/** The versions that are installed in `bench/`, as their package.json says. */
export function versionsOf(names: readonly string[]): Record<string, string> {
  const versions: Record<string, string> = {};
  for (const name of names) {
    const file = path.join(bench, "node_modules", name, "package.json");
    const { version } = JSON.parse(readFileSync(file, "utf8")) as { version: string };
    versions[name] = version;
  }
  return versions;
}

function systemName(): string {
  try {
    const name = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1];
    if (name !== undefined) return `${name}, Linux ${os.release()}`;
  } catch {
    // Not Linux.
  }
  return `${os.type()} ${os.release()}`;
}
