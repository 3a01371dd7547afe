import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandIo } from "../command/command-io.ts";
import { resumeLine, type ResumeLine } from "./view/resume-line.ts";

/** A name that sorts by time, so that a person finds the last one. */
export function newRunId(): string {
  const [date = "", time = ""] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${randomBytes(3).toString("hex")}`;
}

/** The command line that goes on with a run; undefined where nothing of it is written down. */
export function resumeHint(
  folder: string,
  line: ResumeLine,
  io: CommandIo,
): (runId: string) => string | undefined {
  const journal = join(folder, ".fetchwork/runs", line.runId, "journal.ndjson");
  return () => (existsSync(journal) ? resumeLine(line, io) : undefined);
}
