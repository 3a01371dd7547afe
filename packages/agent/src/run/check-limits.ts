import { AgentError, checkFileBytes } from "../errors.ts";
import type { AgentSettings } from "./agent-options.ts";

/** Limits of a project. */
type Limits = Pick<AgentSettings, "maxFileBytes" | "maxFiles" | "maxTotalBytes">;

/**
 * Checks what becomes of a project, which may be there already. One that has more than is allowed
 * already may be changed, but not grow.
 *
 * @throws AgentError `ERR_AGENT_LIMIT`
 */
export function checkGrowth(
  before: ReadonlyMap<string, string>,
  changed: ReadonlyMap<string, string>,
  { maxFileBytes, maxFiles, maxTotalBytes }: Limits,
): void {
  let files = before.size;
  let total = 0;
  let grown = 0;
  for (const text of before.values()) total += Buffer.byteLength(text);
  for (const [path, text] of changed) {
    const bytes = Buffer.byteLength(text);
    const old = before.get(path);
    if (bytes > Buffer.byteLength(old ?? "")) checkFileBytes(path, bytes, maxFileBytes);
    if (old === undefined) files += 1;
    grown += bytes - Buffer.byteLength(old ?? "");
  }
  const found =
    files > maxFiles && files > before.size
      ? `${files} files, more than the ${maxFiles}`
      : total + grown > maxTotalBytes && grown > 0
        ? `${total + grown} bytes, more than the ${maxTotalBytes}`
        : undefined;
  if (found === undefined) return;
  throw new AgentError("ERR_AGENT_LIMIT", `there would be ${found} that are allowed`);
}
