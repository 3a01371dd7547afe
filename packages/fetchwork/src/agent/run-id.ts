import { randomBytes } from "node:crypto";

/** Makes a name that sorts by time, so that a person finds the latest run. */
export function newRunId(): string {
  const [date = "", time = ""] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll("-", "")}-${time.replaceAll(":", "")}-${randomBytes(3).toString("hex")}`;
}
