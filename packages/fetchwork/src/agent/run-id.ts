import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandIo } from "../command/command-io.ts";
import { resumeLine, type ResumeLine } from "./view/resume-line.ts";

/** Makes a name that sorts by time, so that a person finds the latest run. */
export function newRunId(): string {
  const [date = "", time = ""] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${randomBytes(3).toString("hex")}`;
}

/** Returns the command line that resumes a run; undefined when it has no journal. */
export function resumeHint(
  folder: string,
  line: ResumeLine,
  io: CommandIo,
): (runId: string) => string | undefined {
  const journal = join(folder, ".fetchwork/runs", line.runId, "journal.ndjson");
  return () => (existsSync(journal) ? resumeLine(line, io) : undefined);
}
