import type { Stored } from "@fetchwork/documents";
import type { Usage } from "../calls/budget.ts";
import type { JsonObject } from "./task-agent.ts";
import type { ArtifactRecord, StepRecord, TaskRecord } from "./task-records.ts";

/** A file of a task in the Agent Protocol. `size`, `versions`, `created_at` are ours. */
export interface Artifact {
  readonly artifact_id: string;
  /** Whether a step wrote the file; `false` for an upload. */
  readonly agent_created: boolean;
  readonly file_name: string;
  /** The folder; `.` for the root, `null` when an upload named none. */
  readonly relative_path: string | null;
  /** Bytes. */
  readonly size: number;
  /** How many versions there are; a download takes `?version=`, from 1 on. */
  readonly versions: number;
  /** ISO 8601. */
  readonly created_at: string;
}

/** A task, as the Agent Protocol says it. The fields after `artifacts` are ours. */
export interface Task {
  readonly task_id: string;
  readonly input: string;
  /** Further input of the client with the task; see the README for the names that count. */
  readonly additional_input: JsonObject;
  readonly artifacts: readonly Artifact[];
  readonly state: TaskState;
  /** Whether a server runs the steps that are left by itself. */
  readonly automatic: boolean;
  /** Steps that are known, and those of them that are not completed. */
  readonly steps: { readonly total: number; readonly open: number };
  /** Usage of the models; `cost` is in US dollars, `null` when a price is not known. */
  readonly usage: Usage;
  /** Why the last step that was run failed; `null` when it did not. */
  readonly last_error: JsonObject | null;
  /** ISO 8601. */
  readonly created_at: string;
}

/** States of a task. The protocol has none for tasks; these are those of A2A that apply. */
export type TaskState = "canceled" | "completed" | "failed" | "submitted" | "working";

/** A step, as the Agent Protocol says it. */
export interface Step {
  readonly task_id: string;
  readonly step_id: string;
  readonly name: string;
  readonly status: "completed" | "created" | "running";
  /** Input of the client for the step; `null` without any. */
  readonly input: string | null;
  readonly additional_input: JsonObject;
  /** Text for the client; `null` until the step is completed. */
  readonly output: string | null;
  /** Further results; of a step that failed, its failure. */
  readonly additional_output: JsonObject;
  /** Files that the step wrote. */
  readonly artifacts: readonly Artifact[];
  /** Whether the task is completed after this step. */
  readonly is_last: boolean;
}

/** Writes a task for a client. */
export function toTask(
  record: Stored<TaskRecord>,
  artifacts: readonly Stored<ArtifactRecord>[],
): Task {
  return {
    task_id: record.id,
    input: record.input,
    additional_input: record.additionalInput,
    artifacts: artifacts.map(toArtifact),
    state: stateOf(record),
    automatic: record.automatic,
    steps: { total: record.steps, open: record.open },
    usage: record.usage,
    last_error: record.failure === undefined ? null : { ...record.failure },
    created_at: record.createdAt,
  };
}

function stateOf({ state, failure, begun }: TaskRecord): TaskState {
  if (state !== "open") return state;
  if (failure !== undefined) return "failed";
  return begun > 0 ? "working" : "submitted";
}

/** Writes a step for a client. */
export function toStep(
  record: Stored<StepRecord>,
  artifacts: readonly Stored<ArtifactRecord>[],
): Step {
  return {
    task_id: record.taskId,
    step_id: record.id,
    name: record.name,
    status: record.status,
    input: record.input,
    additional_input: record.additionalInput,
    output: record.output,
    additional_output: record.additionalOutput,
    artifacts: artifacts.map(toArtifact),
    is_last: record.isLast,
  };
}

/** Writes a file for a client. */
export function toArtifact(record: Stored<ArtifactRecord>): Artifact {
  return {
    artifact_id: record.id,
    agent_created: record.agentCreated,
    file_name: record.path.slice(record.path.lastIndexOf("/") + 1),
    relative_path: record.folder,
    size: record.versions.at(-1)?.size ?? 0,
    versions: record.versions.length,
    created_at: record.createdAt,
  };
}
