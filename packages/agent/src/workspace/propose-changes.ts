import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { requireText } from "../errors.ts";
import { ConfinedFolder, type ConfinedFolderOptions } from "./confined-folder.ts";
import { ProjectWriter, type ConflictPolicy, type ProposedChange } from "./project-writer.ts";

/** How changes are proposed. */
export interface ProposeOptions extends ConfinedFolderOptions {
  /** Policy for files that somebody changed. Default: `merge`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/**
 * Says what writing these files into a folder would do, and writes nothing: what a dry run shows.
 *
 * @throws AgentError `ERR_AGENT_CONFLICT` as a rejection where `onConflict` is `fail` and a file
 * conflicts
 */
export async function proposeChanges(
  out: string,
  contents: ReadonlyMap<string, string>,
  { onConflict = "merge", maxFileBytes }: ProposeOptions = {},
): Promise<readonly ProposedChange[]> {
  const folder = resolve(requireText("out", out));
  const there = await stat(folder).catch(() => undefined);
  if (there === undefined) {
    // Opening it would make it.
    return [...contents].map(([path, after]) => ({
      path,
      action: "created",
      before: undefined,
      after,
      beside: undefined,
    }));
  }
  const confined = await ConfinedFolder.open(folder, { maxFileBytes });
  const writer = await ProjectWriter.open(confined, onConflict);
  const changes: ProposedChange[] = [];
  for (const [path, text] of contents) changes.push(await writer.propose(path, text));
  return changes;
}
