import { randomUUID } from "node:crypto";
import { DocumentsError } from "../../api/errors.ts";
import type { Lease } from "../../api/lease.ts";
import type { ParsedQuery } from "../../query/parse-query.ts";
import type { Target } from "../../query/targets.ts";
import { whereSql } from "./reading.ts";
import type { Row } from "./row-query.ts";
import { DOCUMENT_COLUMNS, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { keyOf, orderSql, Parameters } from "./sql.ts";
import type { Table } from "./table.ts";

/** Where the token and the end of a lease are in a row of a document and its lease. */
const TOKEN = 6;
const UNTIL = 7;

/** What comes back of a document that was claimed. */
const CLAIMED = [...DOCUMENT_COLUMNS.split(", "), "lease_token", "lease_attempt"]
  .map((column) => `claimed.${column}`)
  .join(", ");
const MOST_CANDIDATES = 1000;

/**
 * Claims documents that nobody holds a lease of. One that somebody else is claiming at the moment
 * is passed over instead of waited for.
 */
export async function claimMatching<T>(
  session: Session,
  table: Table,
  { query, expiry }: { readonly query: ParsedQuery; readonly expiry: number },
): Promise<readonly Lease<T>[]> {
  const now = Date.now();
  const until = new Date(now + expiry).toISOString();
  const rows = table.isDistributed
    ? await claimSpread(session, table, { query, now, expiry })
    : await claimInOrder(session, table, { query, now, expiry });
  return rows.map((row) => {
    const document = toStored<T>(table, row);
    return { document, token: row[TOKEN] ?? "", until, attempt: Number(row[7]) };
  });
}

interface Claiming {
  readonly query: ParsedQuery;
  readonly now: number;
  readonly expiry: number;
}

async function claimInOrder(
  session: Session,
  table: Table,
  { query, now, expiry }: Claiming,
): Promise<readonly Row[]> {
  const parameters = new Parameters();
  const where = whereSql(table, query, parameters);
  const free = freeSql(now, parameters);
  const { rows } = await session.write({
    text:
      `WITH picked AS (SELECT id FROM ${table.quoted}${where} AND ${free} ` +
      `ORDER BY ${orderSql(query.order, (path) => keyOf(path, table.keyForm))} LIMIT ${query.limit ?? 1} FOR UPDATE SKIP LOCKED), ` +
      "numbered AS (SELECT id, row_number() OVER () AS place FROM picked) " +
      `UPDATE ${table.quoted} AS claimed SET ` +
      `${leaseSql(now + expiry, parameters, "gen_random_uuid()::text")} ` +
      "FROM numbered WHERE claimed.id = numbered.id " +
      `RETURNING ${CLAIMED}, numbered.place`,
    values: parameters.values,
  });
  return rows.toSorted((left, right) => Number(left[8]) - Number(right[8]));
}

/**
 * Claims documents of a spread table, which takes no lock over several servers: looks for free ones
 * and leases those that still are. Whoever loses all of them to others looks again, further away
 * each time, so that not all go after the same ones.
 */
async function claimSpread(
  session: Session,
  table: Table,
  { query, now, expiry }: Claiming,
): Promise<readonly Row[]> {
  const wanted = query.limit ?? 1;
  for (let reach = wanted; ; reach = Math.min(reach * 4, MOST_CANDIDATES)) {
    const looking = new Parameters();
    const where = whereSql(table, query, looking);
    const { rows: found } = await session.read({
      text:
        `SELECT id FROM ${table.quoted}${where} AND ${freeSql(now, looking)} ` +
        `ORDER BY ${orderSql(query.order, (path) => keyOf(path, table.keyForm))} LIMIT ${reach}`,
      values: looking.values,
    });
    if (found.length === 0) return [];
    const candidates = reach === wanted ? found : shuffled(found);
    const ids = candidates.slice(0, wanted).map(([id = null]) => id);
    const parameters = new Parameters();
    const free = freeSql(now, parameters);
    // A volatile function is not for every system.
    const token = `${parameters.bind(randomUUID(), "text")} || ':' || claimed.id`;
    const { rows } = await session.write({
      text:
        `UPDATE ${table.quoted} AS claimed SET ${leaseSql(now + expiry, parameters, token)} ` +
        `WHERE id = ANY(${parameters.bind(ids, "text[]")}) AND ${free} RETURNING ${CLAIMED}`,
      values: parameters.values,
    });
    const places = new Map(found.map(([id = null], place) => [id, place]));
    if (rows.length > 0) {
      return rows.toSorted(([left = null], [right = null]) => {
        return Number(places.get(left)) - Number(places.get(right));
      });
    }
  }
}

/** Every order is as likely: one that sorts by comparing at random keeps most near their places. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

function freeSql(now: number, parameters: Parameters): string {
  return `(lease_until IS NULL OR lease_until <= ${parameters.bind(String(now), "bigint")})`;
}

function leaseSql(until: number, parameters: Parameters, token: string): string {
  return (
    `lease_token = ${token}, ` +
    `lease_until = ${parameters.bind(String(until), "bigint")}, lease_attempt = lease_attempt + 1`
  );
}

/** Which lease of which document. */
export interface Held {
  readonly id: string;
  readonly token: string;
}

/** Extends a lease that is still held. */
export async function renewLease(
  session: Session,
  table: Table,
  { id, token, expiry }: Held & { readonly expiry: number },
): Promise<boolean> {
  const now = Date.now();
  const { count } = await session.write({
    text:
      `UPDATE ${table.quoted} SET lease_until = $1 ` +
      "WHERE id = $2 AND lease_token = $3 AND lease_until > $4",
    values: [String(now + expiry), possibleToken(id), possibleToken(token), String(now)],
  });
  return count === 1;
}

/** Gives up a lease that is still held. */
export async function releaseLease(
  session: Session,
  table: Table,
  { id, token }: Held,
): Promise<boolean> {
  const { count } = await session.write({
    text:
      `UPDATE ${table.quoted} SET lease_token = NULL, lease_until = NULL, lease_attempt = 0 ` +
      "WHERE id = $1 AND lease_token = $2 AND lease_until > $3",
    values: [possibleToken(id), possibleToken(token), String(Date.now())],
  });
  return count === 1;
}

/** Writes the condition that the lease of a change is held, with AND before it. */
export function heldSql({ lease }: Target, parameters: Parameters): string {
  if (lease === undefined) return "";
  const token = parameters.bind(possibleToken(lease), "text");
  const now = parameters.bind(String(Date.now()), "bigint");
  return ` AND lease_token = ${token} AND lease_until > ${now}`;
}

/** Refuses a change by somebody whose lease is over. */
export function checkHeld(table: Table, { lease }: Target, row: Row): void {
  if (lease === undefined) return;
  if (row[TOKEN] === lease && Number(row[UNTIL]) > Date.now()) return;
  throw new DocumentsError(
    "ERR_DOCUMENTS_LEASE",
    `The lease of the document of "${table.definition.name}" is over`,
  );
}

/** PostgreSQL refuses a text with U+0000; nothing is found by an empty one. */
function possibleToken(text: string): string {
  return text.includes("\0") ? "" : text;
}
