import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type {
  AgentContext,
  ContentBlock,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  StopReason,
} from "@agentclientprotocol/sdk";
import { AgentError } from "../errors.ts";
import { isGuarded } from "../loop/changed-files.ts";
import type { RunHandle } from "../run/agent-event.ts";
import type { AgentOptions } from "../run/agent-options.ts";
import { createAgent } from "../run/create-agent.ts";
import type { Approver, ProposedChange } from "../workspace/project-writer.ts";
import { readPromptBlocks } from "./prompt-blocks.ts";
import { sessionTurns, type SessionTurn, turnId } from "./session-history.ts";
import { changeOf, updatesOf } from "./session-updates.ts";

/** Whether the editor is asked about each file that is written. */
export type SessionMode = "ask" | "write";

/** Parts of a session. */
export interface AcpSessionParts {
  readonly id: string;
  /** Absolute path. */
  readonly folder: string;
  readonly settings: AgentOptions;
  /** The editor. */
  readonly client: AgentContext;
}

/** How a prompt ends whose run failed; others are errors. */
const stopReasons: { readonly [C in AgentError["code"]]?: StopReason } = {
  ERR_AGENT_BUDGET: "max_tokens",
  ERR_AGENT_CANCELLED: "cancelled",
  ERR_AGENT_LIMIT: "max_turn_requests",
  ERR_AGENT_REFUSED: "refusal",
  ERR_AGENT_TRUNCATED: "max_tokens",
};

/** A conversation with an editor about one folder: each prompt is an edit that continues it. */
export class AcpSession {
  mode: SessionMode = "ask";
  readonly #parts: AcpSessionParts;
  #run: RunHandle | undefined;
  #running: Promise<unknown> | undefined;
  #canceled = new AbortController();
  /** Numbers calls of tools, for the editor. */
  #calls = 0;
  /** Calls of changes that are approved and not written yet, by path. */
  readonly #approved = new Map<string, string>();

  constructor(parts: AcpSessionParts) {
    this.#parts = parts;
  }

  /** Whether a prompt is under way. */
  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Does what a prompt asks for.
   *
   * @throws what the edit fails with, as a rejection
   */
  async prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    this.#canceled = new AbortController();
    const done = this.#prompt(blocks);
    this.#running = done.catch(() => undefined);
    try {
      return await done;
    } catch (error) {
      const reason = error instanceof AgentError ? stopReasons[error.code] : undefined;
      if (reason === undefined) throw error;
      if (reason !== "cancelled") await this.#send((error as AgentError).message);
      return reason;
    } finally {
      this.#running = undefined;
      this.#run = undefined;
    }
  }

  /** Ends the prompt that is under way, if there is one. */
  cancel(): void {
    this.#canceled.abort();
    this.#run?.cancel();
  }

  /** Cancels what is under way, and resolves when it has ended. */
  async end(): Promise<void> {
    this.cancel();
    await this.#running;
  }

  /** Shows the editor what was said before. */
  async replay(turns: readonly SessionTurn[]): Promise<void> {
    for (const { request, summary, isFinished } of turns) {
      if (!isFinished) continue;
      await this.#update({ sessionUpdate: "user_message_chunk", content: textOf(request) });
      if (summary !== "") await this.#send(summary);
    }
  }

  async #prompt(blocks: readonly ContentBlock[]): Promise<StopReason> {
    const { id, folder, settings } = this.#parts;
    const { request, images } = readPromptBlocks(blocks, folder);
    const turns = await sessionTurns(folder, id);
    const last = turns.findLast(({ isFinished }) => isFinished);
    const place = images.length === 0 ? undefined : await mkdtemp(join(tmpdir(), "fetchwork-acp-"));
    try {
      const paths: string[] = [];
      for (const [index, data] of images.entries()) {
        const path = join(place ?? "", String(index));
        await writeFile(path, data, { mode: 0o600 });
        paths.push(path);
      }
      if (this.#canceled.signal.aborted) return "cancelled";
      // Protected files are changed only where somebody sees it.
      const allowProtected = this.mode === "ask";
      this.#run = createAgent({ ...settings, approve: this.#approve, allowProtected }).edit({
        request,
        out: folder,
        runId: turnId(id, (turns.at(-1)?.number ?? 0) + 1),
        continues: last?.runId,
        images: paths,
        dirty: true,
        mayOnlyAnswer: true,
      });
      for await (const event of this.#run) {
        for (const update of updatesOf(event, {
          folder,
          call: () => this.#nextCall(),
          written: (path) => this.#approved.get(path),
        })) {
          await this.#update(update);
        }
      }
      await this.#run.result;
      return "end_turn";
    } finally {
      this.#approved.clear();
      if (place !== undefined) await rm(place, { recursive: true, force: true });
    }
  }

  /** Shows a change, and asks the editor about it unless the mode says not to. */
  readonly #approve: Approver = async (change) => {
    const toolCallId = this.#nextCall();
    const call = changeOf(change, { toolCallId, folder: this.#parts.folder });
    await this.#update({ sessionUpdate: "tool_call", ...call });
    // An editor that allowed all that follows has not seen them.
    const isAllowed = this.mode === "write" && !isGuarded(change.path);
    const decision = isAllowed ? "apply" : await this.#ask(call, change);
    if (decision === "apply") this.#approved.set(change.path, toolCallId);
    else await this.#update({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    return decision;
  };

  async #ask(
    toolCall: ReturnType<typeof changeOf>,
    { path }: ProposedChange,
  ): Promise<"apply" | "skip" | "abort"> {
    const { id: sessionId, client } = this.#parts;
    const options: PermissionOption[] = [
      { optionId: "once", kind: "allow_once", name: `Write ${path}` },
      { optionId: "always", kind: "allow_always", name: "Write it, and all that follow" },
      { optionId: "leave", kind: "reject_once", name: "Leave it as it is" },
    ];
    const asked: RequestPermissionRequest = { sessionId, toolCall, options };
    // An editor that cancels the prompt need not respond.
    const waiting = { cancellationSignal: this.#canceled.signal, stopWaitingOnCancel: true };
    const outcome = await client
      .request("session/request_permission", asked, waiting)
      .then((response: RequestPermissionResponse) => response.outcome)
      .catch((error: unknown) => {
        if (!this.#canceled.signal.aborted) throw error;
        return { outcome: "cancelled" } as const;
      });
    if (outcome.outcome === "cancelled") return "abort";
    if (outcome.optionId === "always") {
      this.mode = "write";
      await this.#update({ sessionUpdate: "current_mode_update", currentModeId: "write" });
    }
    return outcome.optionId === "once" || outcome.optionId === "always" ? "apply" : "skip";
  }

  #nextCall(): string {
    this.#calls += 1;
    return `${this.#parts.id}-${this.#calls}`;
  }

  #send(text: string): Promise<void> {
    return this.#update({ sessionUpdate: "agent_message_chunk", content: textOf(text) });
  }

  #update(update: SessionUpdate): Promise<void> {
    const { id: sessionId, client } = this.#parts;
    return client.notify("session/update", { sessionId, update });
  }
}

function textOf(text: string): { readonly type: "text"; readonly text: string } {
  return { type: "text", text };
}
