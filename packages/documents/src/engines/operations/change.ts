import type { Stored } from "../../api/document.ts";
import { DocumentsError, VersionError } from "../../api/errors.ts";
import { isPossibleId } from "../../document/id.ts";
import { toJsonText } from "../../document/json-text.ts";
import { toStored } from "../../document/stored.ts";
import type { Target, TargetVersion } from "../../query/targets.ts";
import type { Dialect } from "../dialect.ts";
import type { Layout } from "../layout.ts";
import { atomically, type Operation } from "../operation.ts";
import { withoutExpired } from "./insert.ts";
import { visibleTerms } from "./where.ts";

/** Change of a document, and the state that it applies to. */
export interface Modification<T> {
  /** Whether the document is a removed one that is brought back. Default: `false`. */
  readonly restores?: boolean;
  /** Whether `make` runs caller code, which may change its object. Default: `false`. */
  readonly isUserCode?: boolean;
  /** Makes the new document; `undefined` leaves it as it is. */
  readonly make: (stored: Stored<T>) => unknown;
}

/** After this number of lost races a change waits for the lock of its document. */
const freeAttempts = 3;

/**
 * Changes a document to what the modification makes of the stored one. No lock is held in between:
 * the change applies to the version that was read only, and starts again when another change was
 * faster.
 */
export function changeDocument<T>(
  layout: Layout,
  target: Target,
  modification: Modification<T>,
): Operation<Stored<T> | undefined> {
  return withoutExpired(layout, () => changeRepeatedly(layout, target, modification));
}

function* changeRepeatedly<T>(
  layout: Layout,
  target: Target,
  modification: Modification<T>,
): Operation<Stored<T> | undefined> {
  if (!isPossibleId(target.id)) return undefined;
  for (let attempt = 0; attempt < freeAttempts; attempt += 1) {
    const outcome = yield* attemptChange(layout, target, modification, "");
    if (outcome !== "overtaken") return outcome;
  }
  const outcome = yield* atomically(() =>
    attemptChange(layout, target, modification, layout.rowLock),
  );
  // Only the end of the lease comes between the lock and the change.
  return outcome === "overtaken" ? undefined : outcome;
}

function* attemptChange<T>(
  layout: Layout,
  target: Target,
  { restores = false, isUserCode = false, make }: Modification<T>,
  lock: string,
): Operation<Stored<T> | "overtaken" | undefined> {
  const row = yield* readTarget(layout, target, { isRemoved: restores, lock });
  if (row === undefined) return undefined;
  const { name } = layout.definition;
  const read = (): Stored<T> => toStored<T>(name, [...row.slice(0, 5), null]);
  const before = read();
  checkTarget(layout, target, row);
  const { id, version, createdAt } = before;
  const made = make(before);
  if (made === undefined) return read();
  const text = toJsonText(made, layout.reserved);
  const now = layout.stamps.now();
  // The clocks of other processes may be ahead of this one.
  const at = now < before.updatedAt ? before.updatedAt : now;
  const after = toStored<T>(name, [id, version + 1, createdAt, at, text, null]);
  const key = row[6] ?? null;
  const count = yield* layout.update(
    { key, before: isUserCode ? read : () => before, after, text, lease: target.lease },
    { kind: restores ? "restore" : "update", at },
  );
  if (count === 0) return "overtaken";
  if (restores) yield { kind: "added", collection: name, count: 1 };
  return after;
}

/** Reads a document from its columns, its row key, and whether the lease is held. */
export function* readTarget(
  layout: Layout,
  { id, lease }: Target,
  { isRemoved = false, lock = "" }: { readonly isRemoved?: boolean; readonly lock?: string } = {},
): Operation<readonly (number | string | null)[] | undefined> {
  const sql = layout.begin();
  const held = lease === undefined ? "NULL" : layout.isHeld(lease, sql);
  const terms = [`id = ${sql.bind(id, "text")}`];
  terms.push(...visibleTerms(layout, isRemoved ? "only" : "exclude", sql));
  const { rows } = yield sql.read(
    `SELECT ${layout.columns}, ${layout.key}, CASE WHEN ${held} THEN 1 END FROM ${layout.quoted} ` +
      `WHERE ${terms.join(" AND ")}${lock}`,
    "fixed",
  );
  return rows[0];
}

/** The conditions that a document has the version that is meant. */
export function versionTerms(
  ifVersion: TargetVersion | undefined,
  sql: Dialect,
): readonly string[] {
  if (ifVersion === undefined) return [];
  const { version, createdAt } = ifVersion;
  const terms = [`version = ${sql.bind(version, "bigint")}`];
  if (createdAt !== undefined) terms.push(`created_at = ${sql.bind(createdAt, "text")}`);
  return terms;
}

/**
 * Refuses a change of another version than the one that is meant, and one whose lease ended.
 *
 * @throws {VersionError}
 * @throws {DocumentsError} `ERR_DOCUMENTS_LEASE`
 */
export function checkTarget(
  { definition: { name } }: Layout,
  { ifVersion, lease }: Target,
  row: readonly unknown[],
): void {
  const current = Number(row[1]);
  if (ifVersion !== undefined) {
    const { version: expected, createdAt = row[2] } = ifVersion;
    if (expected !== current || createdAt !== row[2]) {
      throw new VersionError(name, { current, expected });
    }
  }
  if (lease === undefined || row[7] !== null) return;
  throw new DocumentsError("ERR_DOCUMENTS_LEASE", `the lease of the document of "${name}" is over`);
}
