import type { PoolClient } from "pg";
import type { CollectionDefinition } from "../../api/definition.ts";
import type { DocumentRecord, Loading, Snapshot } from "../../api/transfer.ts";
import { checkRecord } from "../../document/check-record.ts";
import { recordOf, recordPages, type SizedRecord } from "../../document/record-pages.ts";
import { claimsOf, takeClaims } from "./claims.ts";
import { type Connections, execute, run } from "./connections.ts";
import { geoColumn } from "./geo-column.ts";
import { MIGRATIONS } from "./own-tables.ts";
import { readStatus } from "./planning.ts";
import { toDocumentsError } from "./postgres-error.ts";
import type { Row } from "./row-query.ts";
import { DOCUMENT_COLUMNS, expiryColumn, searchColumn, toStored } from "./row.ts";
import type { Session } from "./session.ts";
import { Parameters, quoteName } from "./sql.ts";
import { createTable, type Table } from "./table.ts";

/** Reads in a transaction that keeps to one moment. */
export async function atOneMoment<R>(
  connections: Connections,
  work: (client: PoolClient) => Promise<R>,
): Promise<R> {
  const client = await connections.acquire();
  let failure: unknown;
  try {
    await execute(client, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    return await work(client);
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    connections.release(client, await connections.rollback(client, failure));
  }
}

/** Shows the store as a transaction sees it that keeps to one moment. */
export async function createSnapshot(client: PoolClient): Promise<Snapshot> {
  return {
    status: await readStatus(client),
    records(collection, { after = "" } = {}) {
      const table = createTable({ name: collection, unique: [], indexes: [], search: [] });
      const text =
        `SELECT ${DOCUMENT_COLUMNS} FROM ${quoteName(collection)} ` +
        "WHERE id > $1 ORDER BY id LIMIT $2::bigint";
      return recordPages(async (last, limit) => {
        const { rows } = await run(client, { text, values: [last, limit] });
        return rows.map((row) => toRecord(table, row));
      }, after);
    },
  };
}

/** What loading needs of a store. */
interface LoadingTarget {
  readonly prepared: (definition: CollectionDefinition<object>) => Promise<Table>;
  /** Is told of documents when they are there for good. */
  readonly noteGrowth: (table: Table, count: number) => void;
}

/** Runs work that puts documents into the store, all or none. */
export async function loadTogether<R>(
  session: Session,
  { prepared, noteGrowth }: LoadingTarget,
  work: (loading: Loading) => Promise<R>,
): Promise<R> {
  const loaded = new Map<Table, number>();
  const result = await session.together((joined) => {
    loaded.clear();
    const note = (table: Table, count: number): void => {
      loaded.set(table, (loaded.get(table) ?? 0) + count);
    };
    return work(createLoading(joined, { prepared, noteGrowth: note }));
  });
  for (const [table, count] of loaded) noteGrowth(table, count);
  return result;
}

/** Puts documents into the store, in the transaction of a session. */
function createLoading(session: Session, { prepared, noteGrowth }: LoadingTarget): Loading {
  return {
    async add(definition, records) {
      const table = await prepared(definition);
      try {
        if (records.length > 0) await loadAll(session, table, records);
        noteGrowth(table, records.length);
      } catch (error) {
        throw toDocumentsError(error, table);
      }
    },
    async noteMigrations(migrations) {
      for (const { id, name, at } of migrations) {
        await session.write({
          text: `INSERT INTO ${MIGRATIONS} (id, name, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
          values: [id, name, at],
        });
      }
    },
  };
}

function toRecord(table: Table, row: Row): SizedRecord {
  // Only checks the row, whose columns may be damaged.
  toStored(table, row);
  return recordOf(row);
}

async function loadAll(
  session: Session,
  table: Table,
  given: readonly DocumentRecord[],
): Promise<void> {
  const records = given.map((record) => {
    const checked = checkRecord(record, table);
    const { id, version, createdAt, updatedAt, text } = checked;
    const row = [id, String(version), createdAt, updatedAt, text, null];
    return { ...checked, stored: toStored<object>(table, row) };
  });
  const parameters = new Parameters();
  const lists = [
    parameters.bind(
      records.map(({ id }) => id),
      "text[]",
    ),
    parameters.bind(
      records.map(({ version }) => version),
      "bigint[]",
    ),
    parameters.bind(
      records.map(({ createdAt }) => createdAt),
      "text[]",
    ),
    parameters.bind(
      records.map(({ updatedAt }) => updatedAt),
      "text[]",
    ),
    parameters.bind(
      records.map(({ text }) => text),
      "text[]",
    ),
    parameters.bind(
      records.map(({ deletedAt }) => deletedAt ?? null),
      "text[]",
    ),
    parameters.bind(
      records.map(({ stored }) => searchColumn(table, stored)),
      "text[]",
    ),
    parameters.bind(
      records.map(({ stored }) => expiryColumn(table, stored)),
      "bigint[]",
    ),
  ];
  let columns = "id, version, created_at, updated_at, doc, deleted_at, search, expires_at";
  let geo = "";
  if (table.geoPaths.length > 0) {
    const places = records.map(({ stored }) => geoColumn(table, stored));
    lists.push(parameters.bind(places, "text[]"));
    columns += ", geo";
    geo = ", geo::float8[]";
  }
  const alive = records.filter(({ deletedAt }) => deletedAt === undefined);
  await session.write({
    text:
      `INSERT INTO ${table.quoted} (${columns}) ` +
      "SELECT id, version, created_at, updated_at, doc::jsonb, deleted_at, search, expires_at" +
      `${geo} ` +
      `FROM unnest(${lists.join(", ")}) AS added (${columns})`,
    values: parameters.values,
  });
  await takeClaims(
    session,
    table,
    alive.flatMap(({ stored }) => claimsOf(table, stored)),
  );
}
