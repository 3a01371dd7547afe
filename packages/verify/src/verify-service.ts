import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import type { Service } from "@fetchwork/service";
import { VerifyError } from "./errors.ts";
import { type Finding, Findings } from "./finding.ts";
import type { Invariant } from "./invariant.ts";
import { type Cost, tryScale } from "./scale/try-scale.ts";
import { ReadTable, type Reads } from "./tries/read-table.ts";
import type { Trial } from "./tries/trial.ts";
import { tryAsks } from "./tries/try-asks.ts";
import { tryFuzz } from "./tries/try-fuzz.ts";
import { tryInvariant } from "./tries/try-invariants.ts";
import { tryOwnRoutes } from "./tries/try-own-routes.ts";
import { tryReads } from "./tries/try-reads.ts";
import { tryRepetitions } from "./tries/try-repetitions.ts";
import { tryWrites } from "./tries/try-writes.ts";
import { openWorld } from "./world/open-world.ts";
import { Visibility } from "./world/rules.ts";
import { Sender } from "./world/sender.ts";

/** How a service is verified. */
export interface VerifyOptions {
  /**
   * URL of an empty database that is there for nothing else, such as `postgres://localhost/verify`; its documents are removed
   * at the end. Default: a SQLite store in memory, or with `module` one in a file that is removed at the end.
   */
  readonly database?: string | undefined;
  /**
   * Path of the module that exports the service. With it the first ends of a process that statements are tried with are those
   * of a second process, which serves the same database and is killed by SIGKILL. Default: they are simulated.
   */
  readonly module?: string | undefined;
  /** Settings in addition to those that are needed, by the names of their variables. Default: none. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** What stays the same for documents, as `invariant` makes it. Default: none. */
  readonly invariants?: readonly Invariant[] | undefined;
  /** Made documents of each resource with which lists are measured, 1,000 to 1,000,000. Default: not measured. */
  readonly scale?: number | undefined;
  /** Ends the run, which then rejects with the reason of the signal. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** What was tried, and what was found. */
export interface VerifyReport {
  /** Name of the service. */
  readonly service: string;
  /** Faults; of those that differ in the request only, the first one. */
  readonly findings: readonly Finding[];
  /** Which kind of caller reads which fields, by resource. */
  readonly reads: Reads;
  /** Requests that were sent. */
  readonly requests: number;
  /** What lists cost with many documents; empty without `scale`. */
  readonly costs: readonly Cost[];
  /** What could not be tried, with the reason. */
  readonly skipped: readonly string[];
}

const checkOptions: OptionCheck = createOptionCheck((message) => new VerifyError(message));

const tries = [tryReads, tryAsks, tryOwnRoutes, tryWrites, tryRepetitions, tryFuzz];

/**
 * Opens a service, fills it with documents of two owners that have a mark in each field, and sends every request that its
 * definitions know as every kind of caller. Reports each field that a caller reads, learns of or writes without being allowed
 * to by the definitions. The store is in memory; with `module` it is a file in the temporary folder, which a second process
 * opens too and which is removed at the end; with `database` it is that database. Mails are dropped, and jobs are not run.
 *
 * @throws VerifyError for an option that does not exist, a service that does not open, and a database with documents.
 *
 * @example
 * ```ts
 * const { findings } = await verifyService(app);
 * expect(findings).toEqual([]);
 * ```
 */
export async function verifyService(
  service: Service,
  options: VerifyOptions = {},
): Promise<VerifyReport> {
  checkOptions("verifyService", options, [
    "database",
    "invariants",
    "module",
    "scale",
    "settings",
    "signal",
  ]);
  const { scale, signal } = options;
  if (scale !== undefined && !(Number.isInteger(scale) && scale >= 1000 && scale <= 1_000_000)) {
    throw new VerifyError(`scale must be a whole number from 1,000 to 1,000,000, not ${scale}`);
  }
  const { database, invariants = [], module, settings = {} } = options;
  const world = await openWorld(service, { database, module, settings });
  try {
    const findings = new Findings();
    const sender = new Sender(world, findings, signal);
    const visibility = new Visibility();
    const trial: Trial = { world, sender, findings, visibility, reads: new ReadTable() };
    for (const one of tries) await one(trial);
    for (const one of invariants) await tryInvariant(trial, one);
    const scaled =
      scale === undefined
        ? undefined
        : await tryScale(service, settings, { documents: scale, signal });
    return {
      service: service.name,
      findings: [...findings.list(), ...(scaled?.findings ?? [])],
      reads: trial.reads.table(),
      requests: sender.requests,
      costs: scaled?.costs ?? [],
      skipped: [...new Set([...world.skipped, ...(scaled?.skipped ?? [])])],
    };
  } finally {
    await world[Symbol.asyncDispose]();
  }
}
