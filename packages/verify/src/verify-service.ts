import { createOptionCheck, type OptionCheck } from "@fetchwork/kit";
import type { Service } from "@fetchwork/service";
import { VerifyError } from "./errors.ts";
import { type Finding, Findings } from "./finding.ts";
import type { Invariant } from "./invariant.ts";
import { type Cost, tryScale } from "./scale/try-scale.ts";
import { type Reads, readTable, type Trial } from "./tries/trial.ts";
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
   * URL of an empty database for this alone, such as `postgres://localhost/verify`. It is emptied
   * at the end. Default: SQLite in memory, or with `module` in a temporary file.
   */
  readonly database?: string | undefined;
  /**
   * Path of the module that exports the service. A second process then serves the same database and
   * is killed by SIGKILL while statements are tried. Default: its end is simulated.
   */
  readonly module?: string | undefined;
  /** Further settings by the names of their variables. Default: none. */
  readonly settings?: Readonly<Record<string, string>> | undefined;
  /** Invariants of documents, as `invariant` makes them. Default: none. */
  readonly invariants?: readonly Invariant[] | undefined;
  /** Documents that lists are measured with, 1,000 to 1,000,000. Default: not measured. */
  readonly scale?: number | undefined;
  /** Ends the run, which then rejects with the reason of the signal. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/** Report on the tried parts, and the findings. */
export interface VerifyReport {
  /** Name of the service. */
  readonly service: string;
  /** Faults; of those that differ in the request only, the first one. */
  readonly findings: readonly Finding[];
  /** Fields that each kind of caller reads, by resource. */
  readonly reads: Reads;
  /** Requests that were sent. */
  readonly requests: number;
  /** Costs of lists with many documents; empty without `scale`. */
  readonly costs: readonly Cost[];
  /** Parts that could not be tried, with the reason. */
  readonly skipped: readonly string[];
}

const checkOptions: OptionCheck = createOptionCheck((message) => new VerifyError(message));

const tries = [tryReads, tryAsks, tryOwnRoutes, tryWrites, tryRepetitions, tryFuzz];

/**
 * Opens a service, and fills it with documents of two owners that have a mark in each field. Every
 * kind of caller then sends every request that the definitions know. A field that a caller reads,
 * learns of or writes against them is reported. Mails are dropped, and jobs are not run.
 *
 * @throws VerifyError for an invalid option, and for a service or a database that does not fit.
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
  const known = ["database", "invariants", "module", "scale", "settings", "signal"] as const;
  checkOptions("verifyService", options, known);
  const { database, invariants = [], module, scale, settings, signal } = options;
  if (scale !== undefined && !(Number.isInteger(scale) && scale >= 1000 && scale <= 1_000_000)) {
    throw new VerifyError(`scale must be a whole number from 1,000 to 1,000,000, got ${scale}`);
  }
  await using world = await openWorld(service, { database, module, settings });
  const findings = new Findings();
  const sender = new Sender(world, findings, signal);
  const trial: Trial = { world, sender, findings, visibility: new Visibility(), reads: new Set() };
  for (const one of tries) await one(trial);
  for (const one of invariants) await tryInvariant(trial, one);
  const costs = scale === undefined ? [] : await tryScale(trial, scale, settings, signal);
  return {
    service: service.name,
    findings: findings.list(),
    reads: readTable(trial.reads),
    requests: sender.requests,
    costs,
    skipped: [...new Set(world.skipped)],
  };
}
