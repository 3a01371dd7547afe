import { defineCollection } from "../src/index.ts";

/** The registers that clients read and write; every written value is another one. */
export const registers = defineCollection<{ value: string }>("registers");

/** The keys of the registers; few, so that clients meet. */
export const keyNames = ["a", "b", "c", "d"] as const;

/** What a transaction did to a register. */
export interface Step {
  readonly kind: "read" | "write";
  readonly key: string;
  readonly value: string;
  /** The version that was read, or that the writing made. */
  readonly version: number;
}

/** What one run of a transaction did. */
export interface Run {
  readonly name: string;
  /** Whether its promise was fulfilled; a run that was repeated was not. */
  readonly isCommitted: boolean;
  readonly steps: readonly Step[];
}

/** Something that a history of isolated transactions does not have. */
export interface Anomaly {
  readonly kind:
    | "cycle"
    | "dirty read"
    | "intermediate read"
    | "lost update"
    | "non-repeatable read"
    | "own write not read"
    | "unknown version";
  readonly where: string;
}

/**
 * Looks for anomalies in a history. Versions give the order of the writes of each register, so that
 * the dependencies between transactions are known and not guessed (Adya, "Weak Consistency", 1999;
 * as in the checker Elle).
 *
 * A cycle of dependencies means that no serial order returns this history; write skew is one.
 */
export function findAnomalies(runs: readonly Run[]): readonly Anomaly[] {
  const committed = runs.filter(({ isCommitted }) => isCommitted);
  return [
    ...committed.flatMap(anomaliesWithin),
    ...anomaliesOfVersions(runs, committed),
    ...cycles(committed),
  ];
}

/** Reads of one transaction that do not fit together. */
function anomaliesWithin({ name, steps }: Run): readonly Anomaly[] {
  const found: Anomaly[] = [];
  const last = new Map<string, Step>();
  for (const step of steps) {
    const { kind, key, value } = step;
    const before = last.get(key);
    if (kind === "read" && before !== undefined && before.value !== value) {
      const fault = before.kind === "write" ? "own write not read" : "non-repeatable read";
      found.push({ kind: fault, where: `${name}: ${key}` });
    }
    last.set(key, step);
  }
  return found;
}

function anomaliesOfVersions(runs: readonly Run[], committed: readonly Run[]): readonly Anomaly[] {
  const found: Anomaly[] = [];
  const undone = new Set(
    runs
      .filter(({ isCommitted }) => !isCommitted)
      .flatMap(({ steps }) => steps.filter(({ kind }) => kind === "write").map(keyOf)),
  );
  const final = new Map<string, string>();
  const passing = new Set<string>();
  for (const { name, steps } of committed) {
    for (const step of steps.filter(({ kind }) => kind === "write")) {
      const isLast = !steps.some((other) => other.kind === "write" && isLater(other, step));
      if (!isLast) passing.add(keyOf(step));
      const taken = final.get(`${step.key} ${step.version}`);
      if (taken !== undefined) found.push({ kind: "lost update", where: `${name}: ${step.key}` });
      final.set(`${step.key} ${step.version}`, step.value);
    }
  }
  for (const { name, steps } of committed) {
    const own = new Set(steps.filter(({ kind }) => kind === "write").map(keyOf));
    for (const step of steps) {
      const where = `${name}: ${step.key} ${step.version}`;
      if (step.kind === "write") {
        const read = steps.findLast((other) => other.kind === "read" && isLater(step, other));
        const isOver = steps.some(
          (other) =>
            other.kind === "write" && isLater(step, other) && !isLater(read ?? step, other),
        );
        // What it was made of was no longer what the register held.
        if (read !== undefined && !isOver && step.version !== read.version + 1) {
          found.push({ kind: "lost update", where });
        }
        continue;
      }
      if (own.has(keyOf(step))) continue;
      if (undone.has(keyOf(step))) found.push({ kind: "dirty read", where });
      else if (passing.has(keyOf(step))) found.push({ kind: "intermediate read", where });
      else if (step.version > 1 && final.get(`${step.key} ${step.version}`) !== step.value) {
        found.push({ kind: "unknown version", where });
      }
    }
  }
  return found;
}

/** Follows the dependencies between committed transactions round in circles. */
function cycles(committed: readonly Run[]): readonly Anomaly[] {
  const writers = new Map<string, number>();
  for (const [index, { steps }] of committed.entries()) {
    for (const { kind, key, version } of steps) {
      if (kind === "write") writers.set(`${key} ${version}`, index);
    }
  }
  const after = committed.map(() => new Set<number>());
  const edge = (from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined && from !== to) after[from]?.add(to);
  };
  for (const [index, { steps }] of committed.entries()) {
    for (const { kind, key, version } of steps) {
      // Anyone who wrote the version before a write, or the one that was read, was earlier.
      edge(writers.get(`${key} ${kind === "write" ? version - 1 : version}`), index);
      // Anyone who wrote the version behind the one that was read was later.
      if (kind === "read") edge(index, writers.get(`${key} ${version + 1}`));
    }
  }
  const isDone = new Map<number, boolean>();
  const found: Anomaly[] = [];
  const visit = (index: number, path: readonly number[]): void => {
    if (isDone.get(index) === true) return;
    if (isDone.get(index) === false) {
      const names = path.slice(path.indexOf(index)).map((one) => committed[one]?.name);
      found.push({ kind: "cycle", where: names.join(", ") });
      return;
    }
    isDone.set(index, false);
    for (const next of after[index] ?? []) visit(next, [...path, index]);
    isDone.set(index, true);
  };
  for (const index of committed.keys()) visit(index, []);
  return found;
}

function keyOf({ key, value }: Step): string {
  return `${key} ${value}`;
}

function isLater(one: Step, other: Step): boolean {
  return one.key === other.key && one.version > other.version;
}
