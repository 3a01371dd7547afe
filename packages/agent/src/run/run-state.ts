import { isObject } from "@fetchwork/kit";
import { addUsage, type Amount, type Usage } from "../calls/budget.ts";
import { AgentError } from "../errors.ts";
import { validateFilePath } from "../files/file-path.ts";
import type { PaidAnswer } from "../loop/loop-model.ts";
import type { Conversation, ToolResult } from "../loop/run-loop.ts";
import type { ImagePart } from "./read-images.ts";
import { readContract, type FileSpec } from "../project/project-plan.ts";
import type { JournalEntry } from "../workspace/journal.ts";

/** Progress of a run, as its journal records it. */
export interface RunState {
  kind: RunKind;
  /** Prompt of the run, or request of the edit. */
  prompt: string | undefined;
  sharedDeps: string | undefined;
  /** Whether an edit is committed. */
  commit: boolean;
  files: readonly FileSpec[] | undefined;
  /** Source of each file, the last repair's included. */
  readonly sources: Map<string, string>;
  /** Repairs that are finished, by round and path. */
  readonly repaired: Map<string, string>;
  /** Hashes of what was put down, by path: before a file is written, its entry is. */
  readonly intents: Map<string, WriteIntent>;
  /** Pictures of an edit. */
  images: readonly ImagePart[];
  /** The run whose conversation an edit goes on with. */
  continues: string | undefined;
  /** Conversation of a loop that came to its end. */
  turns: Conversation | undefined;
  /** Answers of a loop that are paid, by the hash of their question. */
  readonly answers: Map<string, PaidAnswer>;
  /** Results of tools that may differ the next time, by the name of their call. */
  readonly results: Map<string, ToolResult>;
  /** Changes of an edit; undefined: no answer was usable yet. */
  changes: readonly EditChange[] | undefined;
  usage: Usage;
  /** Amount that counts against the limits; undefined: the usage. */
  charged: Amount | undefined;
  finished: boolean;
}

/** Whether a run writes a program or changes one. */
export type RunKind = "run" | "edit";

/** A file that an edit changes. */
export interface EditChange {
  readonly path: string;
  /** Hash of what was there; `null`: nothing. */
  readonly before: string | null;
  /** Its text; `null`: it is removed. */
  readonly after: string | null;
}

/** Write that is about to happen: with `after` on the disk, the write is done. */
export interface WriteIntent {
  readonly action: string;
  readonly after: string;
  readonly beside?: string | undefined;
}

/** Entries of a journal, by type. */
export interface JournalData {
  readonly start: {
    readonly prompt: string;
    readonly kind: RunKind;
    /** A plan that was given. */
    readonly sharedDeps?: string | undefined;
    /** Whether an edit is committed. */
    readonly commit?: boolean | undefined;
    readonly continues?: string | undefined;
    readonly images?: readonly ImagePart[] | undefined;
  };
  readonly spent: {
    readonly usage: Usage;
    /** Amount that counts against the limits now. */
    readonly charged?: Amount | undefined;
  };
  readonly plan: { readonly text: string };
  readonly files: { readonly files: readonly FileSpec[] };
  readonly file: { readonly path: string; readonly code: string };
  readonly repair: { readonly path: string; readonly code: string; readonly round: number };
  readonly write: WriteIntent & { readonly path: string };
  readonly turns: { readonly messages: Conversation };
  readonly answer: { readonly key: string; readonly answer: PaidAnswer };
  readonly result: { readonly callId: string; readonly result: ToolResult };
  readonly edit: { readonly changes: readonly EditChange[] };
  readonly done: Readonly<Record<string, never>>;
}

/** Writes down what is finished, before anything builds on it. */
export type RecordStep = <T extends keyof JournalData>(
  type: T,
  data: JournalData[T],
) => Promise<void>;

/** The state of a run that has not begun. */
export function emptyState(): RunState {
  return {
    kind: "run",
    prompt: undefined,
    sharedDeps: undefined,
    commit: false,
    files: undefined,
    sources: new Map(),
    repaired: new Map(),
    intents: new Map(),
    images: [],
    continues: undefined,
    turns: undefined,
    answers: new Map(),
    results: new Map(),
    changes: undefined,
    usage: { inputTokens: 0, outputTokens: 0, cost: 0, calls: 0 },
    charged: undefined,
    finished: false,
  };
}

/** Key of a repair in the state. */
export function repairKey(round: number, path: string): string {
  return `${round} ${path}`;
}

/** Reads what a journal says is finished. */
export function readState(entries: readonly JournalEntry[]): RunState {
  const state = emptyState();
  for (const { type, data } of entries) {
    const value = isObject(data) ? data : {};
    const { path, code, text } = value;
    if (type === "start" && typeof value["prompt"] === "string") {
      state.prompt = value["prompt"];
      readStart(state, value);
    } else if (type === "plan" && typeof text === "string") state.sharedDeps = text;
    else if (type === "files") state.files = readContract(value)?.files;
    else if (type === "spent" && isUsage(value["usage"])) {
      state.usage = addUsage(state.usage, value["usage"]);
      if (isAmount(value["charged"])) state.charged = value["charged"];
    } else if (type === "file" && typeof path === "string" && typeof code === "string") {
      state.sources.set(path, code);
    } else if (type === "repair" && typeof path === "string" && typeof code === "string") {
      state.repaired.set(repairKey(Number(value["round"]), path), code);
    } else if (type === "write" && typeof path === "string") {
      const { action, after, beside } = value;
      const intent = { action: String(action), after: String(after) };
      state.intents.set(path, typeof beside === "string" ? { ...intent, beside } : intent);
    } else if (type === "done") state.finished = true;
    else if (!readEdit(state, type, value))
      throw new AgentError("ERR_AGENT_JOURNAL", `the journal has an entry ${type} that is none`);
  }
  return state;
}

function readStart(
  state: RunState,
  { kind, commit, continues, images, sharedDeps }: Readonly<Record<string, unknown>>,
): void {
  state.kind = kind === "edit" ? "edit" : "run";
  state.commit = commit === true;
  if (typeof continues === "string") state.continues = continues;
  if (isImages(images)) state.images = images;
  if (typeof sharedDeps === "string") state.sharedDeps = sharedDeps;
}

/** Whether an entry is one of an edit. */
function readEdit(
  state: RunState,
  type: string,
  { changes, key, answer, callId, result, messages }: Readonly<Record<string, unknown>>,
): boolean {
  const { answers, results } = state;
  if (type === "edit") state.changes = readChanges(changes);
  else if (type === "turns" && isConversation(messages)) state.turns = messages;
  else if (type === "answer" && isAnswer(answer)) answers.set(String(key), answer);
  else if (type === "result" && isResult(result)) results.set(String(callId), result);
  else return false;
  return true;
}

function readChanges(value: unknown): readonly EditChange[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): readonly EditChange[] => {
    if (!isObject(entry)) return [];
    const { path, before, after } = entry;
    if (typeof path !== "string" || !isTextOrNull(after) || !isTextOrNull(before)) return [];
    // A journal that came with a folder may say anything.
    const checked = validateFilePath(path);
    return checked.ok ? [{ path: checked.path, before, after }] : [];
  });
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isConversation(value: unknown): value is Conversation {
  return (
    Array.isArray(value) &&
    value.every((one) => isObject(one) && typeof one["role"] === "string" && "content" in one)
  );
}

function isImages(value: unknown): value is readonly ImagePart[] {
  return (
    Array.isArray(value) &&
    value.every((one) => isObject(one) && one["type"] === "file" && typeof one["data"] === "string")
  );
}

function isAnswer(value: unknown): value is PaidAnswer {
  if (!isObject(value) || typeof value["text"] !== "string") return false;
  const { toolCalls, thoughts } = value;
  return Array.isArray(toolCalls) && toolCalls.every(isObject) && Array.isArray(thoughts);
}

function isResult(value: unknown): value is ToolResult {
  return isObject(value) && typeof value["text"] === "string";
}

function isUsage(value: unknown): value is Usage {
  return (
    isObject(value) &&
    typeof value["inputTokens"] === "number" &&
    typeof value["outputTokens"] === "number" &&
    typeof value["calls"] === "number" &&
    (value["cost"] === null || typeof value["cost"] === "number")
  );
}

function isAmount(value: unknown): value is Amount {
  return (
    isObject(value) && typeof value["tokens"] === "number" && typeof value["cost"] === "number"
  );
}
