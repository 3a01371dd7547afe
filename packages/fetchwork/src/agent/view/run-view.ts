import type { AgentEvent } from "@fetchwork/agent";
import type { CommandIo, CommandOutput } from "../../command/command-io.ts";
import { jsonLine } from "../../command/terminal-text.ts";
import { DebugLog } from "./debug-log.ts";
import { eventLine } from "./event-line.ts";
import { LiveView } from "./live-view.ts";

/** Shows the progress of a run. */
interface RunView {
  show(event: AgentEvent): void;
  /** Leaves the terminal as it was found. */
  end(): void;
}

/** How a run is shown. */
interface RunViewOptions {
  /** Events as lines of JSON on standard output. */
  readonly asJson: boolean;
  /** Nothing but errors. */
  readonly isQuiet: boolean;
  /** Also prints plan, files and raw responses. */
  readonly isDebug: boolean;
  /** Lines also where a person reads, who is asked between them. */
  readonly isStill: boolean;
}

/** Chooses the view: JSON, nothing, a live one where a person reads, or lines. */
export function createRunView(
  io: CommandIo,
  { asJson, isQuiet, isDebug, isStill }: RunViewOptions,
): RunView {
  if (asJson) return jsonView(io.stdout, isDebug);
  if (isQuiet) return { show() {}, end() {} };
  const debug = isDebug ? new DebugLog() : undefined;
  const view = io.stderr.isTerminal && !isStill ? new LiveView(io.stderr) : undefined;
  return {
    show(event) {
      const lines = [eventLine(event), debug?.of(event)].filter((line) => line !== undefined);
      if (view !== undefined) view.show(event, lines);
      else for (const line of lines) io.stderr.write(`${line}\n`);
    },
    end() {
      view?.end();
    },
  };
}

function jsonView(stdout: CommandOutput, isDebug: boolean): RunView {
  return {
    show(event) {
      // The caller reports how the run ended, because it knows how to resume.
      if (event.type === "finished" || event.type === "failed") return;
      if (event.type !== "token" || isDebug) stdout.write(jsonLine(event));
    },
    end() {},
  };
}
