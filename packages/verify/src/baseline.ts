import { isObject } from "@fetchwork/kit";
import { VerifyError } from "./errors.ts";
import { type Finding, keyOf } from "./finding.ts";
import type { Reads } from "./tries/trial.ts";

/** Reviewed state: callers and the fields that they read, and accepted findings. */
export interface Baseline {
  readonly reads: Reads;
  /** Findings in the form `code resource.field caller way`. Default: none. */
  readonly accept?: readonly string[] | undefined;
}

/** Differences from a baseline. */
export interface BaselineChanges {
  /** Fields that callers read and did not before, in the form `resource.field caller`. */
  readonly opened: readonly string[];
  /** Fields that callers no longer read. */
  readonly closed: readonly string[];
  /** Findings that the baseline does not accept. */
  readonly findings: readonly Finding[];
}

/**
 * Compares a report with a baseline.
 *
 * @throws VerifyError for a baseline of another shape.
 */
export function compareBaseline(
  { findings, reads }: { readonly findings: readonly Finding[]; readonly reads: Reads },
  baseline: unknown,
): BaselineChanges {
  if (!isObject(baseline) || !isObject(baseline["reads"])) {
    throw new VerifyError("invalid baseline: expected { reads, accept } as in a report");
  }
  const { accept = [] } = baseline;
  if (!Array.isArray(accept)) throw new VerifyError("accept of the baseline must be an array");
  const accepted = new Set<unknown>(accept);
  const [before, now] = [pairsOf(baseline["reads"]), pairsOf(reads)];
  return {
    opened: now.filter((pair) => !before.includes(pair)),
    closed: before.filter((pair) => !now.includes(pair)),
    findings: findings.filter((finding) => !accepted.has(keyOf(finding))),
  };
}

function pairsOf(reads: object): readonly string[] {
  return Object.entries(reads).flatMap(([resource, kinds]) =>
    Object.entries(isObject(kinds) ? kinds : {}).flatMap(([kind, fields]) =>
      (Array.isArray(fields) ? fields : []).map((field) => `${resource}.${String(field)} ${kind}`),
    ),
  );
}
