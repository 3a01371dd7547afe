import { defineCollection, type CollectionDefinition } from "@fetchwork/documents";
import type { Amount, Usage } from "../calls/budget.ts";
import type { RequestKey } from "./request-key.ts";
import type { JsonObject } from "./task-agent.ts";

/** A task in the store. Its id is a UUIDv7, so ids are in the order of creation. */
export interface TaskRecord {
  readonly input: string;
  readonly additionalInput: JsonObject;
  readonly state: "open" | "completed" | "canceled";
  /** Whether the servers run its steps by themselves. */
  readonly automatic: boolean;
  /** Steps that were added so far; the index of the next one. */
  readonly steps: number;
  /** Steps that are not completed. */
  readonly open: number;
  /** Steps that were begun at least once. */
  readonly begun: number;
  /** Events so far. */
  readonly events: number;
  readonly usage: Usage;
  /** Amount that counts against the limits. Default: `usage`. */
  readonly charged?: Amount | undefined;
  /** Milliseconds in which steps of it ran, in each process. */
  readonly worked?: number | undefined;
  /** Bytes of all files that were uploaded so far. */
  readonly uploaded?: number | undefined;
  /** The request that created it, if it had an `Idempotency-Key`. */
  readonly request?: RequestKey | undefined;
  /** Why the last step that failed did; absent after a step that worked. */
  readonly failure?: StepFailure | undefined;
}

/** Why a step failed. */
export interface StepFailure {
  readonly message: string;
  readonly code: string;
  /** Whether it may work when it is run again. */
  readonly retryable: boolean;
}

/** A step in the store. */
export interface StepRecord {
  readonly taskId: string;
  /** Place among the steps of the task. */
  readonly index: number;
  readonly name: string;
  readonly data: JsonObject;
  readonly status: "created" | "running" | "completed";
  readonly input: string | null;
  readonly additionalInput: JsonObject;
  readonly output: string | null;
  readonly additionalOutput: JsonObject;
  /** Ids of the files that it wrote. */
  readonly artifacts: readonly string[];
  readonly isLast: boolean;
  /** Steps that it waits for. */
  readonly waiting: number;
  /** Ids of the steps that wait for it. */
  readonly unblocks: readonly string[];
  /** How often it was begun. */
  readonly attempts: number;
  /** How often its process was gone in the middle of it. */
  readonly lost?: number | undefined;
  /** The request that began it the last time, if it had an `Idempotency-Key`. */
  readonly request?: RequestKey | undefined;
  /** Token of the lease under which it runs. */
  readonly lease?: string | undefined;
}

/** A file of a task, in the store. */
export interface ArtifactRecord {
  readonly taskId: string;
  readonly agentCreated: boolean;
  /** Relative path of the file, with `/`. */
  readonly path: string;
  /** The path as a disk sees it that ignores case. */
  readonly key: string;
  /** The folder in the protocol's form, `.` for the root; `null` when an upload named none. */
  readonly folder: string | null;
  /** SHA-256 and bytes of every version, the newest last. */
  readonly versions: readonly FileVersion[];
}

/** One version of a file. */
export interface FileVersion {
  readonly hash: string;
  readonly size: number;
}

/** A part of the content of a file; its id is `<task>:<sha-256>:<number>`. */
export interface ContentRecord {
  readonly taskId: string;
  /** Base64. */
  readonly bytes: string;
}

/** Something that happened to a task; its id is `<task>:<number>`. */
export interface EventRecord {
  readonly taskId: string;
  readonly number: number;
  readonly type: string;
  readonly data: JsonObject;
}

/** The collections of the task API, each by its definition. */
export const taskCollections: {
  readonly tasks: CollectionDefinition<TaskRecord>;
  readonly steps: CollectionDefinition<StepRecord>;
  readonly artifacts: CollectionDefinition<ArtifactRecord>;
  readonly contents: CollectionDefinition<ContentRecord>;
  readonly events: CollectionDefinition<EventRecord>;
} = {
  tasks: defineCollection<TaskRecord>("agent_tasks", {
    unique: ["request.key"],
    indexes: ["automatic"],
    keepTotal: true,
  }),
  steps: defineCollection<StepRecord>("agent_steps", { indexes: [["taskId", "index"], "status"] }),
  artifacts: defineCollection<ArtifactRecord>("agent_artifacts", {
    unique: [["taskId", "path"]],
    indexes: [["taskId", "key"]],
  }),
  contents: defineCollection<ContentRecord>("agent_contents", { indexes: ["taskId"] }),
  events: defineCollection<EventRecord>("agent_events", { indexes: [["taskId", "number"]] }),
};
