import { randomUUID } from "node:crypto";
import type { CollectionDefinition } from "../../../api/definition.ts";
import { UniqueError } from "../../../api/errors.ts";
import type { Stamps } from "../../../document/stamps.ts";
import type { Claiming, Merging, Recording } from "../../layout.ts";
import { atomically, type Operation, type Result, type Row } from "../../operation.ts";
import { selectionTerms, whereSql } from "../../operations/where.ts";
import { changesTable } from "../../own-tables.ts";
import type { Summarizing } from "../../summarizing.ts";
import { claimedColumns, documentColumns } from "../statements/columns.ts";
import { PostgresWriter } from "../statements/dialect.ts";
import type { Change, UniqueChange } from "../statements/change.ts";
import { PostgresLayout } from "../statements/layout.ts";
import { freeSql, leaseSql } from "../statements/leases.ts";
import { feedEndTable } from "../statements/own-tables.ts";
import { type Column, listSql } from "../statements/row-values.ts";
import { distributedSummarizing } from "../statements/summarizing.ts";
import {
  type Claim,
  type ClaimedFields,
  claimedFields,
  claimsBeyond,
  claimsOf,
  dropAllClaims,
  dropClaims,
  takeClaims,
} from "./claims.ts";

const maxCandidates = 1000;

/**
 * Documents of a collection whose tables may be spread over servers: unique fields go through a
 * table of claims. Documents, their claims and the change feed are changed by one statement after
 * the other: few systems have statements over tables that are spread in different ways.
 */
export class DistributedLayout extends PostgresLayout {
  /** Fields that are unique through the table of claims. */
  readonly claimed: readonly ClaimedFields[];
  override readonly summarizing: Summarizing = distributedSummarizing;

  constructor(definition: CollectionDefinition<unknown>, stamps: Stamps) {
    super(definition, stamps, { isUnique: false });
    this.claimed = definition.unique.map(claimedFields);
  }

  /** A coordinator would write the rows that it fetched to a table first. */
  override packed(select: string): string {
    return select;
  }

  override isTaken(error: unknown): boolean {
    return error instanceof UniqueError || super.isTaken(error);
  }

  override merge(merging: Merging): Operation<Result> | undefined {
    const touched = new Set([...merging.names, ...merging.removed]);
    const isClaimed = this.claimed.some(({ paths }) =>
      paths.some(({ segments: [head = ""], meta }) =>
        meta === undefined ? touched.has(head) : meta === "updatedAt" || meta === "version",
      ),
    );
    return isClaimed ? undefined : super.merge(merging);
  }

  /**
   * Looks for free documents and leases those that still are free, until there are enough or none
   * is left. A process that loses all of them to others looks further away each time. So not all
   * look for the same ones.
   */
  override *claim({ query, now, until }: Claiming): Operation<readonly Row[]> {
    const wanted = query.limit ?? 1;
    const leased: Row[] = [];
    for (let reach = wanted; leased.length < wanted;) {
      const found = yield* this.#findFree({ query, now, until }, reach);
      if (found.length === 0) break;
      const candidates = reach === wanted ? found : shuffled(found);
      const rows = yield* this.#lease(candidates.slice(0, wanted - leased.length), { now, until });
      const places = new Map(found.map((id, place) => [id, place]));
      const placeOf = ([id = null]: Row): number => Number(places.get(id));
      leased.push(...rows.toSorted((left, right) => placeOf(left) - placeOf(right)));
      if (rows.length === 0) reach = Math.min(reach * 4, maxCandidates);
    }
    return leased;
  }

  *#findFree({ query, now }: Claiming, limit: number): Operation<readonly Row[number][]> {
    const sql = this.begin();
    const terms = [...selectionTerms(this, query, sql), freeSql(now, sql)];
    const { rows } = yield sql.read(
      `SELECT id FROM ${this.quoted}${whereSql(terms)} ` +
        `ORDER BY ${sql.order(query.order)}${sql.page(limit, 0)}`,
    );
    return rows.map(([id = null]) => id);
  }

  *#lease(
    ids: readonly Row[number][],
    { now, until }: Pick<Claiming, "now" | "until">,
  ): Operation<readonly Row[]> {
    const sql = this.begin();
    // A volatile function is not for every system.
    const token = `${sql.bind(randomUUID(), "text")} || ':' || claimed.id`;
    const { rows } = yield sql.write(
      `UPDATE ${this.quoted} AS claimed SET ${leaseSql(until, sql, token)} ` +
        `WHERE id = ANY(${sql.bind(ids, "text[]")}) AND ${freeSql(now, sql)} ` +
        `RETURNING ${claimedColumns}`,
    );
    return rows;
  }

  protected override *change(change: Change, unique: UniqueChange): Operation<Result> {
    const { sql, text, use, recording } = change;
    const { drop, take } = this.#claimChange(unique);
    const isAlone = take.length === 0 && (drop.length === 0 || this.claimed.length === 0);
    const isRecorded = this.definition.changes !== undefined && recording !== undefined;
    if (isAlone && !isRecorded) {
      const back = change.returning === undefined ? "" : ` RETURNING ${change.returning}`;
      return yield sql.write(text + back, use);
    }
    return yield* atomically(() => this.#changeTogether(change, { drop, take }));
  }

  *#changeTogether(
    { sql, text, use, recording }: Change,
    { drop, take }: ClaimChange,
  ): Operation<Result> {
    const result = yield sql.write(`${text} RETURNING ${documentColumns}`, use);
    const { rows } = result;
    if (rows.length === 0) return result;
    if (drop === "all") yield* dropAllClaims(this, idsOf(rows));
    else yield* dropClaims(this, drop);
    yield* takeClaims(this, take);
    if (this.definition.changes !== undefined && recording !== undefined) {
      yield { kind: "beforeCommit", work: () => this.#record(recording, rows) };
    }
    return result;
  }

  #claimChange({ added = [], changed, isRemoval = false }: UniqueChange): ClaimChange {
    if (isRemoval) return { drop: "all", take: [] };
    if (changed === undefined) {
      const live = added.filter(({ deletedAt }) => deletedAt === null);
      return { drop: [], take: live.flatMap(({ stored }) => claimsOf(this, stored)) };
    }
    const before = changed.before === undefined ? [] : claimsOf(this, changed.before);
    const after = claimsOf(this, changed.after);
    return { drop: claimsBeyond(before, after), take: claimsBeyond(after, before) };
  }

  /**
   * Writes to the feed. A transaction that draws the next positions holds the row with the last one
   * until the commit. So positions are in the order of the commits, without gaps.
   */
  *#record(recording: Recording, rows: readonly Row[]): Operation<void> {
    const { kind, at } = recording;
    const isWhole = this.isRecordedWhole(recording);
    const drawing = new PostgresWriter();
    const drawn = yield drawing.write(
      `UPDATE ${feedEndTable} SET position = position + ${drawing.bind(rows.length, "bigint")} ` +
        "RETURNING position",
    );
    const first = Number(drawn.rows[0]?.[0]) - rows.length + 1;
    const columns: readonly Column[] = [
      { name: "position", type: "bigint", values: rows.map((_row, index) => first + index) },
      shared("collection", this.definition.name),
      { name: "id", type: "text", values: idsOf(rows) },
      shared("kind", kind),
      { name: "version", type: "bigint", values: rows.map(([, version = null]) => version) },
      shared("at", at),
      {
        name: "doc",
        type: "jsonb",
        values: rows.map((row) => (isWhole ? (row[4] ?? null) : null)),
      },
    ];
    const names = columns.map(({ name }) => name).join(", ");
    const sql = new PostgresWriter();
    yield sql.write(`INSERT INTO ${changesTable} (${names}) ${listSql(columns, sql)}`);
  }
}

/** Effect of a change on the claims of the changed documents. */
interface ClaimChange {
  /** Claims to give up: all of the changed documents, or those of one document. */
  readonly drop: readonly Claim[] | "all";
  readonly take: readonly Claim[];
}

/** A column with one text in all rows. */
function shared(name: string, text: string): Column {
  return { name, type: "text", values: [text], isShared: true };
}

function idsOf(rows: readonly Row[]): readonly (number | string | null)[] {
  return rows.map(([id = null]) => id);
}

/** Every order is as likely: sorting by comparing at random keeps most items near their places. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
