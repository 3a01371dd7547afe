import { join } from "node:path";
import type { SessionUpdate, ToolCall, ToolKind } from "@agentclientprotocol/sdk";
import { describeDiagnostic, fingerprints } from "../check/diagnostic.ts";
import type { AgentEvent } from "../run/agent-event.ts";
import type { ProposedChange } from "../workspace/project-writer.ts";

/** Parts that updates need. */
export interface UpdateParts {
  /** Absolute path. */
  readonly folder: string;
  /** Returns a new name for a call of a tool. */
  readonly call: () => string;
  /** Returns the call of a change that was shown, by path. */
  readonly written: (path: string) => string | undefined;
}

const kinds: Readonly<Record<string, ToolKind>> = {
  list: "read",
  read: "read",
  grep: "search",
  edit: "edit",
  write: "edit",
  move: "move",
  remove: "delete",
  run: "execute",
};
/** Tools that are called with a path. */
const ofPaths: ReadonlySet<string> = new Set(["read", "edit", "write", "move", "remove"]);
const maxShown = 30;

/** Updates that show an event to an editor. */
export function updatesOf(event: AgentEvent, parts: UpdateParts): readonly SessionUpdate[] {
  switch (event.type) {
    case "token":
      return [
        { sessionUpdate: "agent_message_chunk", content: { type: "text", text: event.text } },
      ];
    case "retry": {
      const text = `The model did not answer (${event.code}), and is asked again.`;
      return [{ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } }];
    }
    case "tool": {
      const { name, about, ok } = event;
      const call: ToolCall = {
        toolCallId: parts.call(),
        title: `${name} ${about}`.trim(),
        kind: kinds[name] ?? "other",
        status: ok ? "completed" : "failed",
        ...(ofPaths.has(name) && { locations: [{ path: join(parts.folder, about) }] }),
      };
      return [{ sessionUpdate: "tool_call", ...call }];
    }
    case "checked":
      return [{ sessionUpdate: "tool_call", toolCallId: parts.call(), ...checkOf(event) }];
    case "written": {
      const toolCallId = parts.written(event.path);
      if (toolCallId === undefined) return [];
      const status = event.action === "skipped" ? "failed" : "completed";
      return [{ sessionUpdate: "tool_call_update", toolCallId, status }];
    }
    default:
      return [];
  }
}

/** A change that is about to be written, as the call of a tool with its difference. */
export function changeOf(
  { path, before, after, action }: ProposedChange,
  { toolCallId, folder }: { readonly toolCallId: string; readonly folder: string },
): ToolCall {
  const place = join(folder, path);
  return {
    toolCallId,
    title: action === "removed" ? `Remove ${path}` : `Write ${path}`,
    kind: action === "removed" ? "delete" : "edit",
    status: "pending",
    content: [{ type: "diff", path: place, oldText: before ?? null, newText: after }],
    locations: [{ path: place }],
  };
}

function checkOf(event: Extract<AgentEvent, { readonly type: "checked" }>) {
  const { diagnostics, checked, unchecked } = event;
  const isFaulty = fingerprints(diagnostics).size > 0;
  const left =
    unchecked.length === 0 ? "" : `, not checked: ${unchecked.slice(0, maxShown).join(", ")}`;
  const counted = checked === 1 ? "1 file" : `${checked} files`;
  const title = isFaulty
    ? "Check: new faults"
    : checked === 0
      ? `Check: nothing was checked${left}`
      : `Check: no new fault in ${counted}${left}`;
  const text = diagnostics.slice(0, maxShown).map(describeDiagnostic).join("\n");
  return {
    title,
    kind: "other" as const,
    status: isFaulty ? ("failed" as const) : ("completed" as const),
    ...(text !== "" && {
      content: [{ type: "content" as const, content: { type: "text" as const, text } }],
    }),
  };
}
