import type { SchemaIssue } from "@fetchwork/kit";
import { issuePath } from "../document/check-schema.ts";
import { InputError, optionError, UniqueError } from "../api/errors.ts";
import type { Store } from "../api/store.ts";
import type { Transaction } from "../api/transaction.ts";
import { checkOptions } from "../api/check-options.ts";
import type { JobDefinition } from "./define-job.ts";
import { readJob } from "./job.ts";
import {
  jobCollections,
  type JobRecord,
  type JobTables,
  placeFrom,
  tablesOf,
  timeText,
} from "./job-record.ts";
import { joinLine } from "./key-lines.ts";

/** Options of `add`. */
export interface AddJobOptions {
  /** The earliest time to run. Default: now. */
  readonly at?: Date | undefined;
  /** Milliseconds to wait before it runs, instead of `at`. Default: `0`. */
  readonly delay?: number | undefined;
  /**
   * The time by which it takes its turn among jobs that wait: the earliest goes first. A caller who
   * queues many jobs for one customer spaces them, so that those of others go in between. Not with
   * `at` and `delay`. Default: when it is queued.
   */
  readonly turn?: Date | undefined;
  /**
   * The id: 1 to 128 ASCII letters, digits and `-._~:@+=`. While a job with the id is kept, another
   * one is not queued, so the caller may repeat the call. Default: a new UUIDv7.
   */
  readonly id?: string | undefined;
  /** Transaction in which the job is queued. Default: none, it is queued at once. */
  readonly transaction?: Transaction | undefined;
}

const maxKey = 1000;

/** Queues a job; resolves to its id. */
export async function addJob<Input, Parsed>(
  store: Store,
  definition: JobDefinition<Input, Parsed>,
  input: Input,
  options: AddJobOptions,
): Promise<string> {
  checkOptions("add", options, ["at", "delay", "turn", "id", "transaction"]);
  const { id, transaction } = options;
  // The function `key` relies on the schema of the input.
  await checkInput(definition, input);
  const wanted = describe(definition, input, options);
  const turn = turnOf(options);
  if (transaction !== undefined) return addInside(tablesOf(transaction), { wanted, id, turn });
  // The existence of a job with the id, and the line of a key, must not change in between.
  if (wanted.key !== undefined || id !== undefined) {
    return store.transaction((own) => addInside(tablesOf(own), { wanted, id, turn }));
  }
  const added = { ...wanted, ...placeFrom(wanted.job, wanted.dueAt, turn) };
  return (await tablesOf(store).jobs.insert(added)).id;
}

const maxIssues = 5;
const maxDescription = 500;

/** Checks an input by the schema of its job, and returns what that makes of it. */
export async function checkInput<Input, Parsed>(
  { name, options }: JobDefinition<Input, Parsed>,
  input: unknown,
): Promise<Parsed> {
  // Without a schema, the type of the definition is the word of the caller that queued.
  if (options.schema === undefined) return input as Parsed;
  const outcome = await options.schema["~standard"].validate(input);
  if (outcome.issues === undefined) return outcome.value;
  throw new InputError(
    "ERR_DOCUMENTS_VALUE",
    `the input of the job "${name}" is invalid: ${describeIssues(outcome.issues)}`,
    "input",
  );
}

/** Names the places that a schema rejects; not the values, which may be secret. */
function describeIssues(issues: readonly SchemaIssue[]): string {
  const shown = issues
    .slice(0, maxIssues)
    .map(({ message, path = [] }) => `${issuePath(path) || "the input"}: ${message}`);
  return shown.join("; ").slice(0, maxDescription);
}

async function addInside(
  tables: JobTables,
  {
    wanted,
    id,
    turn,
  }: {
    readonly wanted: Omit<JobRecord, "line" | "state">;
    readonly id: string | undefined;
    readonly turn: number;
  },
): Promise<string> {
  if (id !== undefined) {
    const existing = await readJob(tables, id);
    if (existing?.job === wanted.job) return id;
    // The same id of another job is a mistake, not a repetition.
    if (existing !== undefined) throw new UniqueError(jobCollections.jobs.name, ["id"]);
  }
  const place = await joinLine(tables, wanted, turn);
  return (await tables.jobs.insert({ ...wanted, ...place }, { id })).id;
}

function turnOf({ at, delay, turn }: AddJobOptions): number {
  if (turn === undefined) return Date.now();
  if (at !== undefined || delay !== undefined) {
    throw optionError('"turn" excludes "at" and "delay"');
  }
  if (turn instanceof Date && turn.getTime() >= 0) return turn.getTime();
  throw optionError('"turn" must be a valid Date from 1970 on');
}

function describe<Input, Parsed>(
  { name, options }: JobDefinition<Input, Parsed>,
  input: Input,
  { at, delay }: AddJobOptions,
): Omit<JobRecord, "line" | "state"> {
  if (at !== undefined && delay !== undefined) throw optionError('"at" excludes "delay"');
  if (at !== undefined && !(at instanceof Date && Number.isFinite(at.getTime()))) {
    throw optionError('"at" must be a valid Date');
  }
  if (delay !== undefined && !(delay >= 0)) {
    throw optionError('"delay" must be a number of milliseconds from 0');
  }
  const due = at?.getTime() ?? (delay === undefined ? undefined : Date.now() + delay);
  const key = options.key?.(input);
  if (key !== undefined && !(typeof key === "string" && key.length <= maxKey)) {
    throw new InputError(
      "ERR_DOCUMENTS_VALUE",
      `a key must be a string of up to ${maxKey} characters`,
    );
  }
  return {
    job: name,
    ...(input === undefined ? {} : { input }),
    ...(due === undefined ? {} : { dueAt: timeText(Math.max(0, due)) }),
    ...(key === undefined ? {} : { key }),
  };
}
