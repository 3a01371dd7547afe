import { existsSync } from "node:fs";
import { resolve } from "node:path";
import {
  proposeChanges,
  type AgentOptions,
  type Approver,
  type ConflictPolicy,
  type ProposedChange,
  type RunHandle,
  type RunResult,
} from "@fetchwork/agent";
import { agentExitCodes, asFailure } from "./agent-exit-codes.ts";
import type { CommandIo } from "../command/command-io.ts";
import type { OptionValues } from "../command/command.ts";
import { jsonLine } from "../command/terminal-text.ts";
import { CommandUsageError } from "../command/usage-error.ts";
import type { ModelValues } from "./model-options.ts";
import type { outputOptions } from "./output-options.ts";
import { report } from "./view/report.ts";
import { resumeLine } from "./view/resume-line.ts";
import { RunFailure } from "./run-failure.ts";
import { createRunView } from "./view/run-view.ts";
import { diffText } from "./view/diff-text.ts";

/** How a run is followed. */
interface FollowOptions {
  readonly values: OptionValues<typeof outputOptions> & Pick<ModelValues, "replay">;
  /** Folder of the program, as it was given. */
  readonly named: string;
  /** Decides about each change before it is written. Default: all are. */
  readonly ask?: Approver | undefined;
  /** Shows what would be written without writing it. Default: `false`. */
  readonly dryRun?: boolean | undefined;
  /** Policy of a dry run for files changed by others. Default: `merge`. */
  readonly onConflict?: ConflictPolicy | undefined;
}

/**
 * Starts a run, shows it, and resolves to the exit code.
 *
 * @throws CommandFailure as a rejection, with the exit code of what went wrong
 */
export async function followRun(
  start: (more: Pick<AgentOptions, "approve">) => RunHandle,
  options: FollowOptions,
  io: CommandIo,
): Promise<number> {
  const { values, named, ask, dryRun = false, onConflict } = options;
  const asJson = values.json === true;
  const isQuiet = values.quiet === true;
  const diffs: ProposedChange[] = [];
  const collect: Approver = (change) => {
    diffs.push(change);
    return "apply";
  };
  const approve = ask ?? (values.diff === true ? collect : undefined);
  let handle: RunHandle | undefined;
  try {
    handle = start({ approve });
    const isDebug = values.debug === "true";
    const view = createRunView(io, { asJson, isQuiet, isDebug, isStill: ask !== undefined });
    try {
      for await (const event of handle) view.show(event);
    } finally {
      view.end();
    }
    const result = await handle.result;
    const proposed = dryRun
      ? await proposeChanges(result.out, result.contents, { onConflict })
      : undefined;
    if (values.diff === true && !asJson) {
      for (const change of proposed ?? diffs) io.stdout.write(diffText(change, io));
    }
    if (asJson) io.stdout.write(jsonLine(finished(result, proposed)));
    else if (!isQuiet) report(result, { proposed, isReplayed: values.replay !== undefined }, io);
    return result.ok ? 0 : agentExitCodes.faults;
  } catch (error) {
    const failure = asFailure(error, io.signal);
    if (handle === undefined || failure instanceof CommandUsageError) throw failure;
    const { runId } = handle;
    const journal = resolve(io.cwd, named, ".fetchwork/runs", runId, "journal.ndjson");
    const resume = existsSync(journal) ? resumeLine({ runId, out: named, values }, io) : undefined;
    throw new RunFailure(failure, { runId, resume });
  }
}

function finished(
  { contents, ...result }: RunResult,
  proposed: readonly ProposedChange[] | undefined,
): unknown {
  const dry = proposed === undefined ? {} : { contents: Object.fromEntries(contents), proposed };
  return { type: "finished", result: { ...result, ...dry } };
}
