import type { Stored } from "../../api/document.ts";
import { UniqueError } from "../../api/errors.ts";
import { parseJsonText, toJsonText } from "../../document/json-text.ts";
import type { Filter } from "../../query/filter.ts";
import { isPossibleId, type NewDocument, type Target } from "../../query/targets.ts";
import { claimsBeyond, claimsOf } from "./claims.ts";
import { geoColumn } from "./geo-column.ts";
import { checkHeld, heldSql } from "./leasing.ts";
import { toDocumentsError } from "./postgres-error.ts";
import { visibleTerms, whereSql } from "./reading.ts";
import { makeChange } from "./recording.ts";
import { checkVersion } from "./removing.ts";
import { DOCUMENT_COLUMNS, expiryColumn, searchColumn, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { Parameters } from "./sql.ts";
import { sweepTable } from "./sweeping.ts";
import type { Table } from "./table.ts";

const INSERTED = "id, version, created_at, updated_at, doc, search, expires_at";
const INSERTED_PLACES = `${INSERTED}, geo`;
/** After these many lost races a change waits for the lock of its document. */
const FREE_ATTEMPTS = 3;
/** Below this size, of the document and of the change, a merged document is not too large. */
const MERGED_BYTES = 8 * 1024 * 1024;

/**
 * Adds documents, all or none. `patience` is the time in milliseconds after which nobody waits for
 * another transaction any longer that holds one of their unique fields.
 */
export async function insertAll<T>(
  session: Session,
  table: Table,
  documents: readonly NewDocument[],
  { patience }: { readonly patience?: number | undefined } = {},
): Promise<readonly Stored<T>[]> {
  if (documents.length === 0) return [];
  const now = session.stamps.now();
  const added = documents.map((document) => {
    const id = document.id ?? session.stamps.id();
    return toStored<T>(table, [id, "1", now, now, document.text, null]);
  });
  const [first] = added;
  await pastExpired(session, table, async () => {
    const parameters = new Parameters();
    const at = parameters.bind(now, "text");
    const [text] = documents.length === 1 ? documents.map((document) => document.text) : [];
    const hasPlaces = table.geoPaths.length > 0;
    const rows =
      text === undefined || first === undefined
        ? listSql(table, { added, texts: documents.map(({ text }) => text), at }, parameters) +
          limitSql(patience)
        : `VALUES (${parameters.bind(first.id, "text")}, 1, ${at}, ${at}, ` +
          `${parameters.bind(text, "jsonb")}, ${parameters.bind(searchColumn(table, first), "text")}, ` +
          `${parameters.bind(expiryColumn(table, first), "bigint")}${hasPlaces ? `, ${parameters.bind(geoColumn(table, first), "float8[]")}` : ""})`;
    await makeChange(
      session,
      table,
      {
        name: text === undefined ? `insertMany:${patience ?? ""}` : "insert",
        text: `INSERT INTO ${table.quoted} (${hasPlaces ? INSERTED_PLACES : INSERTED}) ${rows}`,
        kind: "insert",
        parameters,
        at: now,
      },
      { take: table.isDistributed ? added.flatMap((stored) => claimsOf(table, stored)) : [] },
    );
  });
  return added;
}

/** Writes a SELECT of many documents; what a collection does not have is not sent for each. */
function listSql<T>(
  table: Table,
  {
    added,
    texts,
    at,
  }: {
    readonly added: readonly Stored<T>[];
    readonly texts: readonly string[];
    readonly at: string;
  },
  parameters: Parameters,
): string {
  const ids = parameters.bind(
    added.map(({ id }) => id),
    "text[]",
  );
  const lists = [ids, parameters.bind(texts, "text[]")];
  const names = ["id", "doc"];
  const add = (
    name: string,
    type: string,
    column: ((table: Table, stored: unknown) => string | null) | undefined,
  ): void => {
    if (column === undefined) return;
    lists.push(
      parameters.bind(
        added.map((stored) => column(table, stored)),
        type,
      ),
    );
    names.push(name);
  };
  const isSearched = table.searchPaths.length > 0;
  const expires = table.expiresAt !== undefined;
  const hasPlaces = table.geoPaths.length > 0;
  add("search", "text[]", isSearched ? searchColumn : undefined);
  add("expires_at", "bigint[]", expires ? expiryColumn : undefined);
  add("geo", "text[]", hasPlaces ? geoColumn : undefined);
  return (
    `SELECT id, 1, ${at}, ${at}, doc::jsonb, ${isSearched ? "search" : "NULL"}, ` +
    `${expires ? "expires_at" : "NULL::bigint"}${hasPlaces ? ", geo::float8[]" : ""} ` +
    `FROM unnest(${lists.join(", ")}) AS added (${names.join(", ")})`
  );
}

function limitSql(patience: number | undefined): string {
  return patience === undefined
    ? ""
    : `, (SELECT set_config('lock_timeout', '${patience}', true)) AS limited`;
}

/** What to make of a document, and of which state of it. */
export interface Modification<T> {
  /** Whether the document is one that was removed, to be brought back. Default: `false`. */
  readonly restores?: boolean;
  make(stored: Stored<T>): unknown;
}

/**
 * Changes a document to what the modification makes of the stored one. No lock is held while it
 * does: the change is made only to the version that was read, and begun anew when another one was
 * faster.
 */
export async function changeOne<T>(
  session: Session,
  table: Table,
  target: Target,
  modification: Modification<T>,
): Promise<Stored<T> | undefined> {
  if (!isPossibleId(target.id)) return undefined;
  return pastExpired(session, table, async () => {
    for (let attempt = 0; attempt < FREE_ATTEMPTS; attempt += 1) {
      const outcome = await attemptChange(session, table, { target, modification, lock: "" });
      if (outcome !== "overtaken") return outcome;
    }
    return session.together(async (locked) => {
      const lock = " FOR UPDATE";
      const outcome = await attemptChange(locked, table, { target, modification, lock });
      // Only the end of the lease comes between the lock and the change.
      return outcome === "overtaken" ? undefined : outcome;
    });
  });
}

async function attemptChange<T>(
  session: Session,
  table: Table,
  {
    target,
    modification,
    lock,
  }: {
    readonly target: Target;
    readonly modification: Modification<T>;
    readonly lock: "" | " FOR UPDATE";
  },
): Promise<Stored<T> | "overtaken" | undefined> {
  const { restores = false } = modification;
  const reading = new Parameters();
  const terms = [`id = ${reading.bind(target.id, "text")}`];
  terms.push(...visibleTerms(table, restores ? "only" : "exclude", reading));
  const { rows } = await session.read({
    name: `${table.hash}:target${lock}:${restores}`,
    text:
      `SELECT ${DOCUMENT_COLUMNS}, lease_token, lease_until FROM ${table.quoted} ` +
      `WHERE ${terms.join(" AND ")}${lock}`,
    values: reading.values,
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const before = toStored<T>(table, [...row.slice(0, 5), null]);
  checkVersion(table, target, before.version);
  checkHeld(table, target, row);
  const { id, version, createdAt } = before;
  const text = toJsonText(modification.make(before), table.reserved);
  const now = session.stamps.now();
  const after = toStored<T>(table, [id, String(version + 1), createdAt, now, text, null]);
  const parameters = new Parameters();
  const claims = restores ? [] : claimsOf(table, before);
  const wanted = claimsOf(table, after);
  const { count } = await makeChange(
    session,
    table,
    {
      name: `update:${restores}:${target.lease !== undefined}`,
      text:
        `UPDATE ${table.quoted} SET version = version + 1, deleted_at = NULL, ` +
        `updated_at = ${parameters.bind(now, "text")}, doc = ${parameters.bind(text, "jsonb")}, ` +
        `search = ${parameters.bind(searchColumn(table, after), "text")}, ` +
        `expires_at = ${parameters.bind(expiryColumn(table, after), "bigint")}` +
        `${placesSql(table, after, parameters)} ` +
        `WHERE id = ${parameters.bind(id, "text")} ` +
        `AND version = ${parameters.bind(String(version), "bigint")} ` +
        `AND deleted_at IS ${restores ? "NOT " : ""}NULL${heldSql(target, parameters)}`,
      kind: restores ? "restore" : "update",
      parameters,
      at: now,
    },
    { drop: claimsBeyond(claims, wanted), take: claimsBeyond(wanted, claims) },
  );
  return count === 0 ? "overtaken" : after;
}

/** Sets the places, with a comma before it, where the collection has any. */
function placesSql(table: Table, stored: unknown, parameters: Parameters): string {
  if (table.geoPaths.length === 0) return "";
  return `, geo = ${parameters.bind(geoColumn(table, stored), "float8[]")}`;
}

/** Fields to set and to remove. */
export interface MergeChange {
  readonly text: string;
  readonly names: readonly string[];
  readonly removed: readonly string[];
}

/** Gives the fields of a merge. */
export function mergeChange(text: string, removed: readonly string[]): MergeChange {
  return { text, names: Object.keys(parseJsonText(text)), removed };
}

/**
 * Merges a change into a document in one statement; resolves to "unsure" when the document is not
 * there, is not the one that is meant, or must be looked at first.
 */
export async function mergeOne<T>(
  session: Session,
  table: Table,
  { target, change }: { readonly target: Target; readonly change: MergeChange },
): Promise<Stored<T> | "unsure"> {
  if (!isMergedBlindly(table, change) || !isPossibleId(target.id)) return "unsure";
  const now = session.stamps.now();
  const parameters = new Parameters();
  const { ifVersion } = target;
  const version =
    ifVersion === undefined ? "" : ` AND version = ${parameters.bind(String(ifVersion), "bigint")}`;
  const { rows } = await makeChange(session, table, {
    name: `merge:${ifVersion !== undefined}:${target.lease !== undefined}`,
    text:
      `UPDATE ${table.quoted} SET version = version + 1, ` +
      `updated_at = ${parameters.bind(now, "text")}, ` +
      `doc = (doc || ${parameters.bind(change.text, "jsonb")}) - ` +
      `${parameters.bind(change.removed, "text[]")} ` +
      `WHERE id = ${parameters.bind(target.id, "text")} AND deleted_at IS NULL${version}` +
      `${heldSql(target, parameters)} AND octet_length(doc::text) < ${MERGED_BYTES}`,
    kind: "update",
    parameters,
    returning: DOCUMENT_COLUMNS,
    at: now,
  });
  const [row] = rows;
  return row === undefined ? "unsure" : toStored<T>(table, row);
}

/** Tells whether nothing that is made of the document by this program depends on the change. */
function isMergedBlindly(table: Table, change: MergeChange): boolean {
  const touched = new Set([...change.names, ...change.removed]);
  const isSearched = table.searchPaths.some(({ segments: [head = ""], meta }) =>
    meta === undefined ? touched.has(head) : meta !== "id" && meta !== "createdAt",
  );
  const isPlace = table.geoPaths.some(({ segments: [head = ""] }) => touched.has(head));
  const isReserved = change.names.some((name) => table.reserved.has(name));
  const isClaimed = table.claimed.some(({ paths }) =>
    paths.some(({ segments: [head = ""], meta }) =>
      meta === undefined ? touched.has(head) : meta === "updatedAt" || meta === "version",
    ),
  );
  const isSmall = change.text.length <= MERGED_BYTES / 3;
  return (
    isSmall && !isSearched && !isPlace && !isClaimed && !isReserved && table.expiresAt === undefined
  );
}

/** Finds the document that has the values of a unique index. */
export async function findByFields(
  session: Session,
  table: Table,
  filter: Filter,
): Promise<string | undefined> {
  const parameters = new Parameters();
  const where = whereSql(table, { filter, words: [], deleted: "exclude" }, parameters);
  const { rows } = await session.read({
    text: `SELECT id FROM ${table.quoted}${where} LIMIT 1`,
    values: parameters.values,
  });
  return rows[0]?.[0] ?? undefined;
}

/** Lets a document that expired, and was not removed yet, be in nobody's way. */
async function pastExpired<R>(session: Session, table: Table, work: () => Promise<R>): Promise<R> {
  try {
    return await work();
  } catch (error) {
    const isTaken = toDocumentsError(error, table) instanceof UniqueError;
    if (!isTaken || table.expiresAt === undefined) throw error;
    if ((await sweepTable(session, table)) === 0) throw error;
    return work();
  }
}
